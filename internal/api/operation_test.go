package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// TestDrain: a stopping server takes no turns and is not ready, but answers everything
// else.
func TestDrain(t *testing.T) {
	s := newServer(t, setup{noStore: true})
	s.Drain()
	for path, want := range map[string]int{"/ready": 503, "/health": 200, "/v1/models": 200} {
		if w := s.do("GET", path, ""); w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	w := s.do("POST", "/v1/chat/completions", hello)
	if w.Code != 503 || !strings.Contains(w.Body.String(), `"code":"shutting_down"`) || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestNotReadyReason: the client gets the reason, the log the cause.
func TestNotReadyReason(t *testing.T) {
	var set setup
	set.noStore = true
	set.api.Ready = func(context.Context) error {
		return &store.UnavailableError{Reason: "the disk is full", Err: errors.New("/secret/path")}
	}
	s := newServer(t, set)
	w := s.do("GET", "/ready", "")
	if want := `{"reason":"the disk is full","status":"not_ready"}`; w.Code != 503 || strings.TrimSpace(w.Body.String()) != want || !strings.Contains(s.log.String(), "secret") {
		t.Errorf("%d %s; log: %s", w.Code, w.Body, s.log)
	}
}

func TestNotReady(t *testing.T) {
	var set setup
	set.noStore = true
	set.api.Ready = func(context.Context) error { return errors.New("/secret/path is full") }
	s := newServer(t, set)
	w := s.do("GET", "/ready", "")
	if w.Code != 503 || strings.Contains(w.Body.String(), "secret") || !strings.Contains(s.log.String(), "is full") {
		t.Errorf("%d %s; log: %s", w.Code, w.Body, s.log)
	}
}

// broken is a catalog with a bug.
type broken struct{}

func (broken) Agent(context.Context, string) (*agent.Agent, error) { panic("sk-secret") }
func (broken) Has(context.Context, string) (bool, error)           { panic("sk-secret") }
func (broken) List(context.Context, string) ([]catalog.Entry, error) {
	return nil, errors.New("sk-secret")
}

func TestBugs(t *testing.T) {
	var log bytes.Buffer
	h := api.New(api.Options{Chat: new(spy), Catalog: broken{}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s := &server{Handler: h}
	for _, w := range []*httptest.ResponseRecorder{
		s.do("POST", "/v1/chat/completions", `{"model":"x","messages":[{"role":"user","content":"x"}]}`, "X-Request-Id: r1"),
		s.do("GET", "/v1/models", "", "X-Request-Id: r1"),
		s.do("GET", "/schemas", "", "X-Request-Id: r1"),
	} {
		body := w.Body.String()
		if w.Code != 500 || strings.Contains(body, "secret") || !strings.Contains(body, "under the request id r1") {
			t.Errorf("%d %s", w.Code, body)
		}
	}
	if n := strings.Count(log.String(), "sk-secret"); n != 3 || !strings.Contains(log.String(), "request_id=r1") {
		t.Errorf("%d times in the log: %s", n, &log)
	}
}

// TestStorageFails: a failing database is a 500 without its words.
func TestStorageFails(t *testing.T) {
	s := newServer(t, setup{})
	must(t, s.store.Close())
	for _, r := range [][3]string{
		{"POST", "/v1/chat/completions", hello}, {"GET", "/sessions", ""}, {"GET", "/schemas/general", ""},
		{"POST", "/schemas", `{"name":"a","description":"x","type":"object"}`},
	} {
		w := s.do(r[0], r[1], r[2])
		if body := w.Body.String(); w.Code != 500 || strings.Contains(strings.ToLower(body), "sql") || strings.Contains(body, "closed") {
			t.Errorf("%s: %d %s", r[1], w.Code, body)
		}
	}
}

// TestFileDeleted: a server whose database was deleted refuses turns with the reason.
func TestFileDeleted(t *testing.T) {
	s := newServer(t, setup{}, scripted.Turn{Text: []string{"Hello."}}, scripted.Turn{Text: []string{"Hello."}})
	if w := s.do("POST", "/v1/chat/completions", hello); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	must(t, os.Remove(s.file))
	for _, r := range [][3]string{
		{"POST", "/v1/chat/completions", hello}, {"GET", "/sessions", ""}, {"POST", "/schemas", `{"name":"a","description":"x","type":"object"}`},
	} {
		w := s.do(r[0], r[1], r[2])
		if body := w.Body.String(); w.Code != 503 || !strings.Contains(body, "the database file is gone") || w.Header().Get("Retry-After") == "" ||
			strings.Contains(body, s.file) || !strings.Contains(body, "storage_unavailable") {
			t.Errorf("%s: %d %v %s", r[1], w.Code, w.Header(), body)
		}
	}
}

// TestHosts: the names that the server answers to, and the sites whose pages may call it.
func TestHosts(t *testing.T) {
	var set setup
	set.noStore, set.api.Hosts, set.api.Origins = true, []string{"p8.example"}, []string{"https://app.example"}
	s := newServer(t, set)
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"localhost:8000", "", 200},
		{"LOCALHOST", "", 200},
		{"127.0.0.1", "", 200},
		{"127.1.2.3:1", "", 200},
		{"[::1]:8000", "", 200},
		{"[::1]", "", 200},
		{"app.localhost:8000", "http://app.localhost:8000", 200},
		{"app.localhost:8000", "http://app.localhost:3000", 403},
		{"p8.example", "https://p8.example", 200},
		{"p8.example", "https://p8.example:8443", 403},
		{"p8.example", "https://app.example", 200},
		{"p8.example", "https://app.example:8443", 403},
		{"evil.example", "", 403},
		{"localhost.evil.example", "", 403},
		{"127.0.0.1.evil.example:8000", "", 403},
		{"10.0.0.1:8000", "", 403},
		{"", "", 403},
		{"localhost", "https://evil.example", 403},
		{"localhost", "null", 403},
		{"localhost", "http://localhost:3000", 403},
		{"localhost:8000", "http://127.0.0.1:8000", 403},
	} {
		r := request("GET", "/health", "")
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("host %q, origin %q: %d, want %d", c.host, c.origin, w.Code, c.want)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Error("CORS is on")
		}
	}
}

// TestSites: a page of another site cannot start a turn, whichever headers its browser
// sends; the server's own page, a development proxy and a program can.
func TestSites(t *testing.T) {
	for name, c := range map[string]struct {
		method  string
		headers []string
		want    int
	}{
		"a program":                     {want: 200},
		"its own page":                  {headers: []string{"Sec-Fetch-Site: same-origin", "Origin: http://127.0.0.1:8000"}, want: 200},
		"through a proxy":               {headers: []string{"Sec-Fetch-Site: same-origin", "Origin: http://localhost:5173"}, want: 200},
		"typed into the browser":        {headers: []string{"Sec-Fetch-Site: none"}, want: 200},
		"another port":                  {headers: []string{"Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:3000"}, want: 403},
		"another site":                  {headers: []string{"Sec-Fetch-Site: cross-site"}, want: 403},
		"another site, allowed":         {headers: []string{"Sec-Fetch-Site: cross-site", "Origin: https://app.example"}, want: 200},
		"an old browser":                {headers: []string{"Origin: http://127.0.0.1:3000"}, want: 403},
		"a sandboxed frame":             {headers: []string{"Origin: null"}, want: 403},
		"reading, from another port":    {method: "GET", headers: []string{"Sec-Fetch-Site: same-site", "Origin: http://127.0.0.1:3000"}, want: 403},
		"a link that another site has":  {method: "GET", headers: []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, want: 200},
		"deleting, from another port":   {method: "DELETE", headers: []string{"Origin: http://127.0.0.1:3000"}, want: 403},
		"asking first, as browsers do":  {method: "OPTIONS", headers: []string{"Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: same-site"}, want: 403},
		"no media type":                 {headers: []string{"Content-Type: "}, want: 415},
		"text":                          {headers: []string{"Content-Type: text/plain"}, want: 415},
		"text that looks like JSON":     {headers: []string{"Content-Type: text/x+json"}, want: 415},
		"a form":                        {headers: []string{"Content-Type: application/x-www-form-urlencoded"}, want: 415},
		"a form with parts":             {headers: []string{"Content-Type: multipart/form-data; boundary=x"}, want: 415},
		"JSON of another kind":          {headers: []string{"Content-Type: application/vnd.api+json"}, want: 200},
		"a media type that is not one":  {headers: []string{"Content-Type: ;"}, want: 415},
		"JSON with its character set":   {headers: []string{"Content-Type: application/json; charset=utf-8"}, want: 200},
		"two media types, one of which": {headers: []string{"Content-Type: text/plain, application/json"}, want: 415},
	} {
		t.Run(name, func(t *testing.T) {
			var set setup
			set.noStore, set.api.Origins = true, []string{"https://app.example"}
			s := newServer(t, set, scripted.Text("hi"))
			method, path, body := "POST", "/v1/chat/completions", hello
			if c.method != "" {
				method, path, body = c.method, "/v1/models", ""
			}
			w := s.do(method, path, body, c.headers...)
			if w.Code != c.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, c.want)
			}
		})
	}
}

// TestMediaTypes: each route accepts only the media types that it reads.
func TestMediaTypes(t *testing.T) {
	for _, c := range []struct {
		path, media string
		refused     bool
	}{
		{"/schemas", "application/yaml", false},
		{"/schemas/", "text/yaml", false},
		{"/v1/schemas", "application/json", false},
		{"/schemas", "text/plain", true},
		{"/schemas", "", true},
		{"/schemas", "text/plain+yaml", true},
		{"/schemas/verify", "text/plain", true},
		{"/chat/s1", "text/plain", true},
		{"/query", "", true},
		{"/query", "text/plain", true},
		{"/sessions/s1/moments", "", true},
		{"/content", "text/plain", true},
		{"/content", "application/json", true},
		{"/mcp", "text/plain", true},
	} {
		s := newServer(t, setup{})
		w := s.do("POST", c.path, "name: x\ndescription: y\n", "Content-Type: "+c.media)
		if got := w.Code == http.StatusUnsupportedMediaType; got != c.refused {
			t.Errorf("%s to %s: %d %s", c.media, c.path, w.Code, w.Body)
		}
	}
}

// TestHugeChunkedBody: a body without a length is cut at the limit.
func TestHugeChunkedBody(t *testing.T) {
	var set setup
	set.noStore, set.api.MaxBody = true, 1<<10
	s := httptest.NewServer(newServer(t, set))
	defer s.Close()
	for _, path := range []string{"/v1/chat/completions", "/schemas"} {
		endless := io.MultiReader(strings.NewReader(`{"messages":"`), strings.NewReader(strings.Repeat("x", 1<<20)))
		res, err := http.Post(s.URL+path, "application/json", endless)
		must(t, err)
		body, _ := io.ReadAll(res.Body)
		must(t, res.Body.Close())
		want := http.StatusRequestEntityTooLarge
		if path == "/schemas" {
			want = http.StatusNotImplemented // nothing is stored: the body is not even read
		}
		if res.StatusCode != want {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestAccessLog: one line per request, without its content.
func TestAccessLog(t *testing.T) {
	s := newServer(t, setup{noStore: true}, scripted.Text("secret answer"))
	s.do("POST", "/v1/chat/completions?key=secret", `{"messages":[{"role":"user","content":"secret question"}]}`,
		"Authorization: Bearer secret", "X-Request-Id: r7", "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if got := s.log.String(); strings.Contains(got, "secret") || strings.Count(got, "msg=request") != 1 ||
		!strings.Contains(got, "method=POST path=/v1/chat/completions status=200") || !strings.Contains(got, "request_id=r7 run=") || !strings.Contains(got, "trace_id=4bf92f3577b34da6a3ce929d0e0e4736") {
		t.Error(got)
	}
}

// TestOpenAPI: the description exists and has every route.
func TestOpenAPI(t *testing.T) {
	s := newServer(t, setup{noStore: true})
	var spec struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	must(t, json.Unmarshal(s.do("GET", "/openapi.json", "").Body.Bytes(), &spec))
	for route, methods := range map[string]string{
		"/chat/completions": "post", "/chat/completions/{session_id}": "post", "/models": "get", "/models/{id}": "get",
		"/health": "get", "/ready": "get", "/schemas": "get post", "/schemas/{id}": "get delete",
		"/query": "post", "/query/raw": "post", "/ask": "post", "/content": "post",
		"/sessions": "get", "/sessions/{id}": "get delete patch", "/sessions/{id}/messages": "get", "/messages/{id}": "get",
		"/sessions/{id}/context": "get", "/sessions/{id}/timeline": "get", "/sessions/{id}/compact": "post",
		"/moments": "get post", "/moments/{id}": "get patch delete", "/moments/{id}/rate": "post", "/moments/feed": "get",
		"/moments/today": "get", "/moments/session/{id}": "get", "/moments/search": "get", "/moments/by-name/{name}": "get",
		"/moments/reminders": "get", "/moments/reminders/{id}": "delete", "/reminders": "get post", "/reminders/{id}": "delete",
		"/notifications": "get", "/dream": "post", "/jobs/stats": "get",
	} {
		for _, m := range strings.Fields(methods) {
			if spec.Paths[route][m] == nil {
				t.Errorf("%s %s is not described", m, route)
			}
		}
	}
	for _, path := range []string{"/sessions", "/schemas/{id}", "/chat/completions", "/query", "/content", "/moments", "/reminders", "/dream"} {
		for _, operation := range spec.Paths[path] {
			if described, _ := json.Marshal(operation); !strings.Contains(string(described), `"X-User-Email"`) {
				t.Errorf("%s does not say how to say who asks", path)
			}
		}
	}
	if !strings.HasPrefix(spec.OpenAPI, "3.1") {
		t.Error(spec.OpenAPI)
	}
	if w := s.do("GET", "/docs", ""); w.Code != 404 {
		t.Error("a page that loads from a CDN is on")
	}
}

// TestPutSchema: the next run uses a stored document, and a row can be read and written
// back.
func TestPutSchema(t *testing.T) {
	s := newServer(t, setup{}, scripted.Text("ahoy"))
	doc := "name: pirate\ndescription: You are a pirate.\ntype: object\nx-mine: kept\n"
	if w := s.do("POST", "/schemas/", doc, "Content-Type: application/yaml"); w.Code != 201 {
		t.Fatal(w.Body)
	}
	if w := s.do("POST", "/v1/chat/completions", `{"model":"pirate","messages":[{"role":"user","content":"hi"}]}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if m := s.model.Requests()[0].Messages[0]; !strings.Contains(m.Content, "You are a pirate.") {
		t.Error(m)
	}
	first := s.do("GET", "/schemas/pirate", "").Body.Bytes()
	if w := s.do("POST", "/schemas/", string(first)); w.Code != 201 {
		t.Fatal(w.Body)
	}
	var before, after map[string]any
	must(t, json.Unmarshal(first, &before))
	must(t, json.Unmarshal(s.do("GET", "/schemas/"+before["id"].(string), "").Body.Bytes(), &after))
	for _, key := range []string{"id", "name", "kind", "content"} {
		if before[key] != after[key] {
			t.Errorf("%s: %v, then %v", key, before[key], after[key])
		}
	}
	if after["json_schema"].(map[string]any)["x-mine"] != "kept" {
		t.Error(after["json_schema"])
	}
}

var _ api.Chat = (*chat.Service)(nil)
