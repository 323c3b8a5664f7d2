package a2a

import "strings"

// The objects of version 0.3 name their kind; states and roles are lower case, files
// are objects.

type object = map[string]any

func oldTask(t *task) object {
	o := object{"kind": "task", "id": t.ID, "contextId": t.ContextID, "status": oldStatus(t.Status)}
	if len(t.Artifacts) > 0 {
		list := make([]object, len(t.Artifacts))
		for i, a := range t.Artifacts {
			list[i] = oldArtifact(a)
		}
		o["artifacts"] = list
	}
	if len(t.History) > 0 {
		list := make([]object, len(t.History))
		for i := range t.History {
			list[i] = oldMessage(&t.History[i])
		}
		o["history"] = list
	}
	return with(o, "metadata", t.Metadata)
}

func oldMessage(m *message) object {
	return object{
		"kind": "message", "messageId": m.MessageID, "contextId": m.ContextID, "taskId": m.TaskID,
		"role": strings.ToLower(strings.TrimPrefix(m.Role, "ROLE_")), "parts": oldParts(m.Parts),
	}
}

func oldUpdate(u update) object {
	switch {
	case u.Task != nil:
		return oldTask(u.Task)
	case u.Artifact != nil:
		a := u.Artifact
		return with(object{
			"kind": "artifact-update", "taskId": a.TaskID, "contextId": a.ContextID, "artifact": oldArtifact(a.Artifact),
			"append": a.Append, "lastChunk": a.LastChunk,
		}, "metadata", a.Metadata)
	}
	s := u.Status
	return with(object{
		"kind": "status-update", "taskId": s.TaskID, "contextId": s.ContextID, "status": oldStatus(s.Status),
		"final": s.Status.State != stateWorking,
	}, "metadata", s.Metadata)
}

func oldStatus(s status) object {
	state := strings.ToLower(strings.TrimPrefix(s.State, "TASK_STATE_"))
	o := object{"state": strings.ReplaceAll(state, "_", "-"), "timestamp": s.Timestamp}
	if s.Message != nil {
		o["message"] = oldMessage(s.Message)
	}
	return o
}

func oldArtifact(a artifact) object {
	return object{"artifactId": a.ArtifactID, "name": a.Name, "parts": oldParts(a.Parts)}
}

// oldParts converts texts and data; p8 sends no other parts.
func oldParts(parts []part) []object {
	list := make([]object, 0, len(parts))
	for _, p := range parts {
		if p.Text != nil {
			list = append(list, object{"kind": "text", "text": *p.Text})
			continue
		}
		list = append(list, object{"kind": "data", "data": p.Data})
	}
	return list
}

// with adds a field unless it is empty.
func with(o object, name string, value map[string]any) object {
	if len(value) > 0 {
		o[name] = value
	}
	return o
}
