package a2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/stream"
)

// exchange sends one request and prints what came back. A caller of a stream that
// waits goes away after a second, which is soon in a bubble of synctest.
func exchange(t testing.TB, s http.Handler, method, path, body string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	ctx = identity.With(ctx, identity.Identity{UserID: "ann", TenantID: "acme"})
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return fmt.Sprintf("%d %s\n%s", w.Code, w.Header().Get("Content-Type"), w.Body)
}

// alone runs a test on a clock of its own.
func alone(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// TestTranscripts sends the requests of each file of testdata, in their order, and
// holds the responses against those in the file. A request is a line with method
// and path, and then the body.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), alone(func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, c := newServer(t, a2a.Options{})
			in := txtar.Parse(text)
			out := &txtar.Archive{Comment: in.Comment}
			for _, f := range in.Files {
				if f.Name != "request" {
					continue
				}
				head, body, _ := strings.Cut(string(f.Data), "\n")
				method, path, _ := strings.Cut(head, " ")
				got := exchange(t, s, method, path, body)
				out.Files = append(out.Files, f, txtar.File{Name: "response", Data: []byte(strings.TrimRight(got, "\n") + "\n")})
			}
			if len(c.decided) > 0 {
				out.Files = append(out.Files, txtar.File{Name: "decided", Data: []byte(strings.Join(c.decided, "\n") + "\n")})
			}
			golden.Compare(t, file, string(txtar.Format(out)))
		}))
	}
}

func send(text, more string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"` + text + `"}]` + more + `}}}`
}

// The caller, the agent and the session are those of the request.
func TestWhoAsks(t *testing.T) {
	s, c := newServer(t, a2a.Options{})
	exchange(t, s, "POST", "/a2a/helper", send("hello", `,"contextId":"trip"`))
	exchange(t, s, "POST", "/a2a", send("hello", ""))
	if len(c.who) != 2 {
		t.Fatalf("%d runs", len(c.who))
	}
	for i, session := range []string{"trip", "session-1"} {
		who := c.who[i]
		if who.UserID != "ann" || who.TenantID != "acme" || who.SessionID != session || who.AgentSchemaURI != "general" || who.ClientID != "a2a" || c.started[i].Agent != "general" {
			t.Errorf("%+v asks %+v", who, c.started[i])
		}
	}
}

// The metadata of a message describe the session; those of extensions do not.
func TestSessionMetadata(t *testing.T) {
	s, c := newServer(t, a2a.Options{})
	exchange(t, s, "POST", "/a2a", send("hello", `,"metadata":{"plan":{"a":1},"session_name":"A trip","session_type":"support","https://x.example/ext":{"b":2}}`))
	if got := fmt.Sprint(c.started[0].SessionName, c.started[0].SessionMode, c.started[0].SessionMetadata); got != "A tripsupportmap[plan:map[a:1]]" {
		t.Error(got)
	}
	if got := exchange(t, s, "POST", "/a2a", send("hello", `,"metadata":{"session_name":5}`)); !strings.Contains(got, "metadata.session_name must be a string") {
		t.Error(got)
	}
}

func TestFiles(t *testing.T) {
	s, c := newServer(t, a2a.Options{})
	body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[
		{"text":"hello"},{"raw":"aGk=","mediaType":"image/png","filename":" a\n\u202e.png"},{"url":"https://x.example/b.pdf","mediaType":"application/pdf"}]}}}`
	exchange(t, s, "POST", "/a2a", body)
	old := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user","parts":[
		{"kind":"text","text":"hello"},{"kind":"file","file":{"bytes":"aGk=","mimeType":"image/png","name":"a.png"}}]}}}`
	exchange(t, s, "POST", "/a2a", old)
	if len(c.started) != 2 {
		t.Fatalf("%d runs", len(c.started))
	}
	if p := c.started[0].Parts; len(p) != 2 || string(p[0].Data) != "hi" || p[0].Kind != "image" || p[0].Name != "a  .png" || p[1].URL != "https://x.example/b.pdf" {
		t.Errorf("%+v", p)
	}
	if p := c.started[1].Parts; len(p) != 1 || string(p[0].Data) != "hi" {
		t.Errorf("%+v", p)
	}
}

func TestExposed(t *testing.T) {
	all, _ := newServer(t, a2a.Options{Agents: []string{"*"}})
	none, _ := newServer(t, a2a.Options{Agents: []string{}})
	alias, _ := newServer(t, a2a.Options{Agents: []string{"helper"}})
	for _, c := range []struct {
		name   string
		server http.Handler
		path   string
		status int
		agent  string
	}{
		{"the root of all is the default agent", all, a2a.CardPath, 200, "general"},
		{"all", all, "/a2a/secret" + a2a.CardPath, 200, "secret"},
		{"a script", all, "/a2a/simulator" + a2a.CardPath, 200, "simulator"},
		{"nobody", all, "/a2a/nobody" + a2a.CardPath, 404, ""},
		{"none", none, a2a.CardPath, 404, ""},
		{"none by name", none, "/a2a/general" + a2a.CardPath, 404, ""},
		{"another name of it", alias, a2a.CardPath, 200, "general"},
		{"a script that is not named", alias, "/a2a/simulator" + a2a.CardPath, 404, ""},
	} {
		w := httptest.NewRecorder()
		c.server.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
		var card struct{ Name string }
		if err := json.Unmarshal(w.Body.Bytes(), &card); err != nil || w.Code != c.status || card.Name != c.agent {
			t.Errorf("%s: %d %q, %v", c.name, w.Code, card.Name, err)
		}
	}
}

func TestAddressOfTheRequest(t *testing.T) {
	_, c := newServer(t, a2a.Options{})
	simulator := compile(t, "type: object\nname: simulator\ndescription: Plays.\n")
	s, err := a2a.New(a2a.Options{Chat: c, Catalog: fakeCatalog{map[string]*agent.Agent{"simulator": simulator}}, Agents: []string{"simulator"}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", a2a.CardPath, nil)
	r.Host = "localhost:8000"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `"url":"http://localhost:8000/a2a/simulator"`) {
		t.Error(w.Body)
	}
}

func TestTooLarge(t *testing.T) {
	s, c := newServer(t, a2a.Options{MaxBody: 100, SSE: stream.SSEOptions{Heartbeat: -1}})
	if got := exchange(t, s, "POST", "/a2a", send(strings.Repeat("x", 200), "")); !strings.HasPrefix(got, "413 ") || len(c.started) > 0 {
		t.Error(got)
	}
}

func TestNewNeedsItsParts(t *testing.T) {
	if _, err := a2a.New(a2a.Options{}); err == nil {
		t.Error("a server without chat and catalog")
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(send("ask", ""))
	f.Add(`{"jsonrpc":"2.0","id":{},"method":"message/stream","params":{"message":{"parts":[{"kind":"data","data":{"approved":1}}],"taskId":"run-1"}}}`)
	f.Add(`{"jsonrpc":"2.0","id":"x","method":"tasks/get","params":{"id":"run-1"}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, body string) {
		synctest.Test(t, func(t *testing.T) {
			s, _ := newServer(t, a2a.Options{})
			exchange(t, s, "POST", "/a2a", send("ask", ""))
			got := exchange(t, s, "POST", "/a2a", body)
			_, answer, _ := strings.Cut(got, "\n")
			if strings.Contains(got, "text/event-stream") {
				return
			}
			if !json.Valid([]byte(answer)) || !strings.HasPrefix(got, "200 ") {
				t.Errorf("%q gives %q", body, got)
			}
		})
	})
}
