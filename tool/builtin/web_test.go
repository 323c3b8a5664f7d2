package builtin_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

const webKey = "tvly-secret"

// tavily answers in Tavily's form, searxng in SearXNG's; each refuses the other's requests.
func tavily(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /search", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Query string `json:"query"`
			Max   int    `json:"max_results"`
			Depth string `json:"search_depth"`
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &in); err != nil || r.Header.Get("Authorization") != "Bearer "+webKey {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"query":%q,"answer":null,"images":[],"response_time":0.1,"results":[
			{"title":"%s %d %s","url":"https://www.example.com/tea?x=1","content":"About <tea>.","score":0.9,"raw_content":null},
			{"title":"","url":"http://example.org/","content":"%s"},
			{"title":"Again","url":"https://www.example.com/tea?x=1","content":"twice"},
			{"title":"Odd","url":"javascript:alert(1)","content":"no page"},
			{"title":"Third","url":"https://user:pw@example.net/b","content":"c"}]}`, in.Query, in.Query, in.Max, in.Depth, strings.Repeat("x", 3000))
	})
	return mux
}

func searxng(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("format") != "json" || q.Get("q") == "" {
			t.Errorf("asked %s", r.URL)
		}
		fmt.Fprintf(w, `{"query":%q,"number_of_results":0,"results":[
			{"url":"https://example.com/tea","title":"Tea","content":"About tea.","engine":"x","category":"general","img_src":"","thumbnail":"https://example.com/t.png"}],
			"answers":[],"suggestions":[]}`, r.URL.Query().Get("q"))
	})
	return mux
}

type webAnswer struct {
	Status, Query, Note string
	Results             []struct {
		Name, Description, URL, Image, Key string
		Tags                               []string
		ResourceID                         string `json:"resource_id"`
	}
	Count int
	Saved bool
}

// withEndpoint sets web search up.
func (k *kit) withEndpoint(t *testing.T, h http.Handler, key, kind string) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	k.WebSearch = builtin.WebSearch{URL: server.URL, APIKey: key, Kind: kind}
	return server.URL
}

func TestWebSearchTavily(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	k.withEndpoint(t, tavily(t), webKey, "")
	var got webAnswer
	k.ok(t, ctx, "web_search", `{"query":" green  tea ","max_results":3,"search_depth":"advanced"}`, &got)
	if got.Status != "ok" || got.Query != "green tea" || got.Count != 3 || !got.Saved || got.Note != "" {
		t.Fatalf("%+v", got)
	}
	first := got.Results[0]
	if first.Name != "green tea 3 advanced" || first.Description != "About <tea>." || first.Key != "web-example-com-tea-x-1-21966b43" || !slices.Equal(first.Tags, []string{"web", "example.com"}) {
		t.Errorf("%+v", first)
	}
	if got.Results[1].Name != "example.org" || len([]rune(got.Results[1].Description)) != 2001 || got.Results[2].URL != "https://example.net/b" {
		t.Errorf("%+v", got.Results[1:])
	}
	row, err := k.Store.Resources().Get(ctx, first.ResourceID)
	must(t, err)
	if row.URI != "https://www.example.com/tea?x=1" || row.Category != "web" || row.UserID != "ann" || row.Content != "green tea 3 advanced\n\nAbout <tea>." || !slices.Equal(row.Tags, first.Tags) {
		t.Errorf("%+v", row)
	}
	// A page that is found again is the same resource.
	k.ok(t, ctx, "web_search", `{"query":"tea"}`, &got)
	if got.Results[0].ResourceID != first.ResourceID || got.Results[0].Name != "tea 5 basic" {
		t.Errorf("%+v", got.Results[0])
	}
	if n, err := k.Store.Resources().Count(as(t, "bob"), store.Filter{}); err != nil || n != 0 {
		t.Errorf("bob sees %d of ann's results, %v", n, err)
	}

	// Each search is a moment of its session, once a day, and its pages have edges back.
	k.ok(t, ctx, "web_search", `{"query":"TEA"}`, &got)
	found, _, err := k.Store.Moments().Find(ctx, store.Filter{Equal: map[string]any{"moment_type": "web_search", "source_session_id": "s-1"}})
	must(t, err)
	if len(found) != 2 || len(found[1].GraphEdges) != 3 || found[1].GraphEdges[0] != (store.Edge{Target: first.Key, Relation: "found", Weight: 1}) ||
		!strings.HasPrefix(found[1].Summary, "Searched the web for \"green tea\" and found:\n- green tea 3 advanced (https://www.example.com/tea?x=1)\n- ") ||
		!strings.HasPrefix(found[1].Name, "web-search-green-tea-2") || store.NormalizeKey(found[1].Name) != found[1].Name {
		t.Errorf("%+v", found)
	}
	row, err = k.Store.Resources().Get(ctx, first.ResourceID)
	must(t, err)
	if len(row.GraphEdges) != 2 || row.GraphEdges[0] != (store.Edge{Target: found[1].Name, Relation: "found_by", Weight: 1}) {
		t.Errorf("%+v", row.GraphEdges)
	}
}

// TestWebSearchHasAKey: a search costs money, so its request has the key of the call.
func TestWebSearchHasAKey(t *testing.T) {
	k := newKit(t)
	var keys []string
	answers := tavily(t)
	k.withEndpoint(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		answers.ServeHTTP(w, r)
	}), webKey, "")
	var got webAnswer
	k.ok(t, as(t, "ann"), "web_search", `{"query":"tea"}`, &got)
	k.ok(t, tool.WithAsker(as(t, "ann"), keyed{}), "web_search", `{"query":"tea"}`, &got)
	if !slices.Equal(keys, []string{"", "the-key"}) {
		t.Errorf("the endpoint got the keys %q", keys)
	}
}

// keyed is an asker with the key of its call.
type keyed struct{ tool.Asker }

func (keyed) Key() string { return "the-key" }

func TestWebSearchIsNotSaved(t *testing.T) {
	for name, c := range map[string]struct {
		user, args, note string
		change           func(*kit)
	}{
		"unasked":   {"ann", `{"query":"tea","save":false}`, "", func(*kit) {}},
		"anonymous": {"", `{"query":"tea"}`, "for a known user only", func(*kit) {}},
		"no store":  {"ann", `{"query":"tea"}`, "nothing is stored", func(k *kit) { k.Store = nil }},
		"read only": {"ann", `{"query":"tea"}`, "nothing is stored", func(k *kit) { k.ReadOnly = true }},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			s := k.Store
			k.withEndpoint(t, searxng(t), "", "")
			c.change(k)
			var got webAnswer
			k.ok(t, as(t, c.user), "web_search", c.args, &got)
			if got.Saved || got.Count != 1 || got.Results[0].ResourceID != "" || !strings.Contains(got.Note, c.note) || (got.Note == "") != (c.note == "") {
				t.Errorf("%+v", got)
			}
			if n, err := s.Resources().Count(as(t, c.user), store.Filter{}); err != nil || n != 0 {
				t.Errorf("%d rows, %v", n, err)
			}
		})
	}
}

// TestWebSearchKinds: a key or the kind's name decides; an endpoint that answers otherwise
// is tried in the other form.
func TestWebSearchKinds(t *testing.T) {
	for name, c := range map[string]struct {
		handler   func(*testing.T) http.Handler
		key, kind string
		suffix    string
		want      string
	}{
		"searxng":              {searxng, "", "", "", "Tea"},
		"searxng with /search": {searxng, "", "", "/search/", "Tea"},
		"searxng behind a key": {searxng, webKey, "", "", "Tea"},
		"searxng by its name":  {searxng, webKey, builtin.SearXNG, "", "Tea"},
		"tavily by its name":   {tavily, webKey, builtin.Tavily, "/search", "q 5 basic"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.withEndpoint(t, c.handler(t), c.key, c.kind)
			k.WebSearch.URL += c.suffix
			var got webAnswer
			k.ok(t, as(t, "ann"), "web_search", `{"query":"q"}`, &got)
			if got.Results[0].Name != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
	k := newKit(t)
	k.withEndpoint(t, searxng(t), "", "")
	var got webAnswer
	if k.ok(t, as(t, "ann"), "web_search", `{"query":"q"}`, &got); got.Results[0].Image != "https://example.com/t.png" {
		t.Errorf("%+v", got)
	}
}

func TestWebSearchFails(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	k.fails(t, ctx, "web_search", `{"query":"q"}`, "set P8_SEARCH_URL to a SearXNG instance or a Tavily endpoint, or P8_SEARCH_API_KEY")
	k.fails(t, ctx, "web_search", `{"query":"  "}`, "query is empty")
	k.fails(t, ctx, "web_search", `{"query":"`+strings.Repeat("é", 401)+`"}`, "query is 401 characters long")
	k.fails(t, ctx, "web_search", `{"query":"q","max_results":21}`, "maximum: got 21, want 20")
	k.fails(t, ctx, "web_search", `{"query":"q","search_depth":"deep"}`, "'basic', 'advanced'")
	k.WebSearch.URL = "ftp://example.com"
	k.fails(t, ctx, "web_search", `{"query":"q"}`, "not an http or https URL; mend P8_SEARCH_URL")
	k.WebSearch.URL = "http://127.0.0.1:1/?token=" + webKey
	k.fails(t, ctx, "web_search", `{"query":"q"}`, "the search endpoint cannot be reached")

	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("a redirect was followed to %s", r.URL) }))
	t.Cleanup(elsewhere.Close)
	for want, handler := range map[string]http.HandlerFunc{
		"the search endpoint refused the key; check P8_SEARCH_API_KEY":     status(http.StatusUnauthorized),
		"the search endpoint refused the request; check P8_SEARCH_API_KEY": status(http.StatusForbidden),
		"no more searches for now; try again in 30 seconds":                status(http.StatusTooManyRequests),
		"the search endpoint allows no more searches for now":              status(432),
		"has a problem of its own (status 503)":                            status(http.StatusServiceUnavailable),
		"the search endpoint refused the search (status 422)":              status(http.StatusUnprocessableEntity),
		"does not answer like Tavily or SearXNG; check P8_SEARCH_URL":      status(http.StatusNotFound),
		"does not answer like Tavily or SearXNG; check":                    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>"+webKey) },
		"does not answer like Tavily or SearXNG":                           func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"detail":"`+webKey+`"}`) },
		"the search endpoint's answer is larger than 2 MiB":                func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 3<<20)) },
		"the search endpoint broke off its answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"results":[`)
		},
		"points to another address; set P8_SEARCH_URL to that one": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
	} {
		k.withEndpoint(t, handler, webKey, "")
		k.fails(t, ctx, "web_search", `{"query":"q"}`, want)
	}
	if strings.Contains(k.log.String(), webKey) {
		t.Errorf("the log has the key: %s", k.log)
	}
}

// status answers with a status and the key.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", map[bool]string{true: "30", false: "soon " + webKey}[code == http.StatusTooManyRequests])
		w.WriteHeader(code)
		fmt.Fprint(w, "no: "+webKey)
	}
}
