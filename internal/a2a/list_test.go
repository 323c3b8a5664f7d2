package a2a_test

import (
	"fmt"
	"strings"
	"testing"
)

type aList struct {
	Tasks               []aTask
	NextPageToken       *string
	PageSize, TotalSize int
}

func (l aList) ids() (ids []string) {
	for _, t := range l.Tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

// A list has the caller's own tasks of the agent, those that changed last first.
func TestListTasks(t *testing.T) {
	w := newWorld(t)
	a := w.begun("wait a", `,"contextId":"one"`+atOnce)
	b := w.begun("b", `,"contextId":"two"`)
	c := w.begunAs("ann", "keeper", "c", `,"contextId":"three"`)
	w.begunAs("bob", "general", "of bob", `,"contextId":"one"`)
	list := func(user, agent, params string) aList {
		t.Helper()
		return get[aList](t, w.callAs(user, agent, "ListTasks", params))
	}
	same := func(what string, got aList, want ...aTask) {
		t.Helper()
		if fmt.Sprint(got.ids()) != fmt.Sprint(aList{Tasks: want}.ids()) || got.PageSize != len(want) {
			t.Errorf("%s: %+v", what, got)
		}
	}
	same("all", list("ann", "general", `{}`), b, a)
	same("of another agent", list("ann", "keeper", `{}`), c)
	same("of a context", list("ann", "general", `{"contextId":"two"}`), b)
	same("of nobody's context", list("ann", "general", `{"contextId":"x\u0000"}`))
	same("working", list("ann", "general", `{"status":"TASK_STATE_WORKING"}`), a)
	same("in the words of 0.3", list("ann", "general", `{"status":"completed"}`), b)
	same("waiting", list("ann", "keeper", `{"status":"TASK_STATE_INPUT_REQUIRED"}`), c)
	same("rejected", list("ann", "general", `{"status":"TASK_STATE_REJECTED"}`))
	same("since", list("ann", "general", `{"statusTimestampAfter":"2999-01-01T00:00:00Z"}`))
	same("of a stranger", list("eve", "general", `{"contextId":"one"}`))
	if got := w.callAs("eve", "general", "GetTask", `{"id":"`+a.ID+`"}`); got.Error.Code != -32001 {
		t.Errorf("a stranger's task: %+v", got)
	}

	get[aTask](t, w.call("CancelTask", `{"id":"`+a.ID+`"}`))
	first := list("ann", "general", `{"pageSize":1}`)
	same("the newest change", first, a)
	if first.TotalSize != 2 || *first.NextPageToken == "" {
		t.Errorf("%+v", first)
	}
	second := list("ann", "general", `{"pageSize":1,"pageToken":"`+*first.NextPageToken+`"}`)
	same("the next page", second, b)
	if second.NextPageToken == nil || *second.NextPageToken != "" {
		t.Errorf("%+v", second)
	}
	if got := list("ann", "general", `{"includeArtifacts":true,"historyLength":5}`).Tasks[1]; got.Artifacts[0].Parts[0].Text != "Done." || len(got.History) != 1 {
		t.Errorf("%+v", got)
	}
	if got := list("ann", "general", `{}`).Tasks[1]; got.Artifacts != nil || got.History != nil {
		t.Errorf("%+v", got)
	}
	old := get[struct{ Tasks []map[string]any }](t, w.call("tasks/list", `{"status":"completed","historyLength":1}`))
	if len(old.Tasks) != 1 || old.Tasks[0]["kind"] != "task" || !strings.Contains(fmt.Sprint(old.Tasks[0]["history"]), "kind:message") {
		t.Errorf("%+v", old)
	}
}

// The history has what the user wrote, and the questions with their answers.
func TestHistory(t *testing.T) {
	w := newWorld(t)
	task := w.begunAs("ann", "keeper", "An otter was born.", `},"configuration":{"historyLength":10`)
	if len(task.History) != 1 || task.Status.State != "TASK_STATE_INPUT_REQUIRED" {
		t.Fatalf("%+v", task)
	}
	more := fmt.Sprintf(`{"message":{"messageId":"m2","role":"ROLE_USER","taskId":%q,"parts":[{"data":{"approved":true,"comment":"of course"}}]}}`, task.ID)
	done := get[struct{ Task aTask }](t, w.callAs("ann", "keeper", "SendMessage", more)).Task
	if done.Status.State != "TASK_STATE_COMPLETED" || done.History != nil {
		t.Fatalf("%+v", done)
	}
	read := func(params string) (said []string) {
		for _, m := range get[aTask](t, w.callAs("ann", "keeper", "GetTask", `{"id":"`+task.ID+`"`+params+`}`)).History {
			if m.TaskID != task.ID || m.MessageID == "" {
				t.Errorf("%+v", m)
			}
			said = append(said, fmt.Sprint(m.Role, " ", m.Parts[0]["text"], " ", m.Parts[0]["data"] != nil))
		}
		return said
	}
	all := read("")
	if len(all) != 3 || all[0] != "ROLE_USER An otter was born. false" || !strings.HasPrefix(all[1], "ROLE_AGENT ") || all[2] != "ROLE_USER <nil> true" {
		t.Errorf("%q", all)
	}
	if got := read(`,"historyLength":2`); fmt.Sprint(got) != fmt.Sprint(all[1:]) {
		t.Errorf("%q", got)
	}
	if got := read(`,"historyLength":0`); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := read(`,"historyLength":2147483647`); len(got) != 3 {
		t.Errorf("%q", got)
	}
	for _, wrong := range []string{"-1", "1e99", `"two"`, "1.5"} {
		if got := w.callAs("ann", "keeper", "GetTask", `{"id":"`+task.ID+`","historyLength":`+wrong+`}`); got.Error.Code != -32602 {
			t.Errorf("%s: %+v", wrong, got)
		}
	}
}
