package memory_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// owner is a user with rows of the same names as everybody's, and a word that only their
// own rows contain.
type owner struct {
	person
	secret string
	// session is their session, keys and ids those of their rows.
	session   string
	keys      []string
	ids       map[string]string // of a moment, a reminder, a notification, a message, a run
	reminders int
}

// live gives a user a row of every kind.
func (x *owner) live(t *testing.T, s *harness.Server) {
	t.Helper()
	long := strings.Repeat("The "+x.secret+" sleeps. ", 700) // of several parts
	for _, text := range []string{"How is the " + x.secret + "?", long, "Where does the " + x.secret + " sleep?"} {
		s.Chat(t, harness.Ask{Agent: "diarist", Session: x.session, Text: text, Headers: x.headers()})
	}
	x.must(t, s, http.MethodPost, "/sessions/"+x.session+"/compact", map[string]any{"threshold": 1})
	x.must(t, s, http.MethodPost, "/moments", map[string]any{
		"name": "note", "summary": "The " + x.secret + " sleeps.", "topic_tags": []string{"sleep"}, "session_id": x.session,
		"metadata": map[string]any{"animal": x.secret},
	})
	soon, later := time.Now().Add(5*time.Second), time.Now().Add(time.Hour)
	for _, at := range []time.Time{soon, later} {
		x.must(t, s, http.MethodPost, "/reminders", map[string]any{"name": "feed", "description": "Feed the " + x.secret + ".", "crontab": at.Format(time.RFC3339)})
	}
	x.tool(t, s, "update_user_metadata", map[string]any{"metadata": map[string]any{"interests": []string{x.secret}}})
	if status, body := x.upload(t, s, x.session); status != http.StatusCreated {
		t.Fatalf("status %d: %s", status, body)
	}
	x.must(t, s, http.MethodPost, "/dream", map[string]any{"wait": true})
	await(t, "the reminder", func() bool { return len(moments(t, s, x.person, "notification", "")) == 1 })
}

// must is a request that is granted.
func (x *owner) must(t *testing.T, s *harness.Server, method, path string, body any) []byte {
	t.Helper()
	status, answer := send(t, s, x.person, method, path, body)
	if status >= 300 {
		t.Fatalf("%s %s: status %d: %s", method, path, status, answer)
	}
	return answer
}

// collect notes the keys and ids of a user's rows, and checks that the user finds them.
func (x *owner) collect(t *testing.T, s *harness.Server) {
	t.Helper()
	x.ids = map[string]string{}
	var all []moment
	get(t, s, x.person, "/moments?limit=500", &all)
	for _, m := range all {
		x.ids[m.Type] = m.ID
		x.keys = append(x.keys, m.Name)
	}
	var rows []harness.Row
	get(t, s, x.person, "/sessions/"+x.session+"/messages", &rows)
	for _, row := range rows {
		if row.Content != nil && strings.Contains(*row.Content, x.secret) {
			x.ids["message"] = row.ID
			key := fmt.Sprintf("session-%s-msg-%d", x.session, row.Seq)
			x.keys = append(x.keys, key, "message-"+row.ID)
			if len(*row.Content) > 6000 {
				x.keys = append(x.keys, key+"-part-2", "message-"+row.ID+"-part-2")
			}
		}
	}
	var runs []struct{ ID string }
	get(t, s, x.person, "/runs?session_id="+x.session, &runs)
	x.ids["run"] = runs[0].ID
	x.reminders = len(moments(t, s, x.person, "reminder", ""))
	for _, kind := range []string{"session_chunk", "note", "reminder", "notification", "content_upload", "dream", "message", "run"} {
		if x.ids[kind] == "" {
			t.Errorf("%s has nothing of the kind %s", x.secret, kind)
		}
	}
	for _, key := range x.keys {
		if text := query(t, s, x.person, `LOOKUP "`+key+`"`); !strings.Contains(text, x.secret) {
			t.Errorf("LOOKUP %s gives its owner %.300s", key, text)
		}
	}
}

// unharmed checks that all rows of a user still exist.
func (x *owner) unharmed(t *testing.T, s *harness.Server) {
	t.Helper()
	for _, key := range x.keys {
		if text := query(t, s, x.person, `LOOKUP "`+key+`"`); !strings.Contains(text, x.secret) || strings.Contains(text, "spied") {
			t.Errorf("after all that LOOKUP %s gives its owner %.300s", key, text)
		}
	}
	if n := len(moments(t, s, x.person, "content_upload", x.session)); n != 1 {
		t.Errorf("the session of %v has %d uploads", x.person, n)
	}
	if n := len(moments(t, s, x.person, "reminder", "")); n != x.reminders {
		t.Errorf("%v had %d reminders and has %d", x.person, x.reminders, n)
	}
	var rows []harness.Row
	get(t, s, x.person, "/sessions/"+x.session+"/messages?limit=500", &rows)
	for _, row := range rows {
		if row.Content != nil && strings.Contains(*row.Content, "What did I say?") {
			t.Errorf("somebody else talked in the session of %v", x.person)
		}
	}
}

// upload sends a file into a session.
func (x *owner) upload(t *testing.T, s *harness.Server, session string) (int, []byte) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "hay.txt")
	if err == nil {
		_, err = io.WriteString(part, "Hay for the "+x.secret+".\n")
	}
	if err == nil {
		err = w.WriteField("session_id", session)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/content", &form)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	for name, value := range x.headers() {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

// tool calls a tool over MCP and gives its answer, a refusal included.
func (x *owner) tool(t *testing.T, s *harness.Server, name string, args map[string]any) string {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "spy", Version: "1"}, nil)
	c, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: headed(x.headers())}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error()
	}
	raw, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// headed adds headers to each request.
type headed map[string]string

func (h headed) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range h {
		req.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(req)
}
