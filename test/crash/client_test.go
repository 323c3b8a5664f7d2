package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// noted is a row that the server has named to a client, which may rely on it from then
// on.
type noted struct {
	session, id, kind string
	// content is the text of the row; for a tool_call, its arguments.
	content string
}

// notebook is the clients' log of the rows that arrived.
type notebook struct {
	mu       sync.Mutex
	rows     []noted
	sessions map[string]bool
}

func (n *notebook) add(row noted) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rows = append(n.rows, row)
}

// open notes that a turn of the session was accepted.
func (n *notebook) open(session string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sessions[session] = true
}

// ask runs one turn and notes every row that a frame names, at the moment in
// which the frame arrives. It reports whether the turn ended.
func (n *notebook) ask(t *testing.T, url, session, text string) bool {
	body, err := json.Marshal(map[string]any{
		"model": "noter", "stream": true, "messages": []map[string]string{{"role": "user", "content": text}},
	})
	if err != nil {
		t.Error(err)
		return false
	}
	req, err := http.NewRequest(http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Session-Id", session)
	req.Header.Set("X-If-Busy", "queue") // the turn that was cut goes on after the crash
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false // killed before the answer began
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("session %s: status %d", session, res.StatusCode)
		return false
	}
	n.open(session)

	var said strings.Builder
	for f, err := range harness.Frames(res.Body) {
		if err != nil {
			return false // killed in the middle
		}
		if f.Data == "[DONE]" {
			return true
		}
		var frame harness.Typed
		if err := json.Unmarshal([]byte(f.Data), &frame); err != nil {
			t.Errorf("frame %q: %v", f.Data, err)
			return false
		}
		if frame.Error != nil {
			t.Errorf("session %s: %s", session, frame.Error.Message)
			return false
		}
		said.WriteString(frame.Text())
		switch {
		case frame.Type == "progress" && frame.InReplyTo != "":
			n.add(noted{session, frame.InReplyTo, "user", text})
		case frame.Type == "tool_call" && frame.MessageID != "" && frame.Status == "executing":
			n.add(noted{session, frame.MessageID, "tool_call", string(frame.Arguments)})
		case frame.Type == "tool_call" && frame.MessageID != "":
			n.add(noted{session, frame.MessageID, "tool_response", string(frame.Result)})
		case frame.Type == "metadata" && frame.MessageID != "":
			n.add(noted{session, frame.MessageID, "assistant", said.String()})
		}
	}
	return false
}

// check reads the noted rows back and compares them byte by byte.
func (n *notebook) check(t *testing.T, server *harness.Server) {
	t.Helper()
	stored := map[string]map[string]harness.Row{}
	for session := range n.sessions {
		byID := map[string]harness.Row{}
		for _, row := range server.Messages(t, session) {
			byID[row.ID] = row
		}
		stored[session] = byID
	}
	for _, want := range n.rows {
		row, ok := stored[want.session][want.id]
		if !ok {
			t.Errorf("session %s: the %s row %s was announced and is lost", want.session, want.kind, want.id)
			continue
		}
		if row.Type != want.kind {
			t.Errorf("row %s is %s, was announced as %s", want.id, row.Type, want.kind)
		}
		got, err := text(row)
		if err != nil {
			t.Errorf("row %s: %v", want.id, err)
		} else if got != want.content {
			t.Errorf("row %s (%s):\n stored    %q\n announced %q", want.id, want.kind, got, want.content)
		}
	}
}

// text is a row's content, or the arguments of a tool_call.
func text(row harness.Row) (string, error) {
	if row.Type != "tool_call" {
		if row.Content == nil {
			return "", fmt.Errorf("a %s row without content", row.Type)
		}
		return *row.Content, nil
	}
	var call struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	if row.Content != nil {
		return "", fmt.Errorf("a tool_call row with content %q", *row.Content)
	}
	err := json.Unmarshal(row.ToolCalls, &call)
	return string(call.Arguments), err
}
