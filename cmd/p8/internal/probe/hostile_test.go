package probe

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// hostile are texts that break what does not expect them.
var hostile = []string{
	"../../etc/passwd", "..", ".", "..\\..\\windows", "/etc/passwd", "%2e%2e%2f", "....//", "file:///etc/passwd", "\x00", "a\x00b", "\xff\xfe", "\u202e", "\u0000",
	"' OR 1=1 --", `"; DROP TABLE messages; --`, "$1", "${HOME}", "{{.}}", "%s%n", "<script>", "😀", "_", "_manual", "null", "-1", "99999999999999999999",
	strings.Repeat("a", 5000), strings.Repeat("é", 300), " ", "", "\r\nX-Role: admin", "auto", "general",
}

// bodies are whole bodies that no route expects.
func bodies() []string {
	return []string{
		strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"", "null", "[]", `""`, "{", `{"a":1e999999}`, `{"model":{},"messages":{}}`, "{\"a\":\"\xff\"}", "\x00", `{"a":"\u0000","a":2}`, `{"messages":[null]}`, `{"input":[[[]]]}`,
	}
}

// inside are words that only the program itself has.
var inside = regexp.MustCompile(`(?i)goroutine \d|\.go:\d+|runtime error|panic:|SQLSTATE|sqlite3:|pgx:|pgconn|UNIQUE constraint|violates|invalid byte sequence|context (canceled|deadline)|json: cannot|strconv\.|no such (table|column): [a-z_]*\.`)

// TestHostileRequests sends requests that are made of those of the surfaces, with hostile names,
// bodies and headers, to every route. None may fail the server, and no answer may say anything of
// its inside.
func TestHostileRequests(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		x := &planter{t, w, w.people[0]}
		x.begin()
		r := rand.New(rand.NewPCG(16, uint64(len(w.engine))))
		all := bodies()
		seen := map[int]int{}
		for n := range harness.Count(t, 600, 6000) {
			at := surfaces[(n*7+r.IntN(7))%len(surfaces)]
			if at.until != "" || at.covers == "GET /mcp" || at.covers == "DELETE /mcp" {
				continue // a stream without an end, and the end of the session
			}
			q := at.spoilt(r, all)
			got := w.as(t, w.people[r.IntN(len(w.people))], q)
			seen[got.status]++
			if got.status >= 500 && got.status != 501 {
				t.Errorf("request %d: %s %.300q %.600q: %d %.600s", n, q.method, q.path, q.body, got.status, got.body)
			}
			if word := inside.FindString(got.body); word != "" || strings.Contains(got.body, filepath.Dir(w.database)) {
				t.Errorf("request %d: %s %.300q %.600q: %d says %q of its inside: %.600s", n, q.method, q.path, q.body, got.status, word, got.body)
			}
		}
		t.Logf("%s: statuses %v", w.engine, seen)
	})
}

var placeholder = regexp.MustCompile(`\{[a-z]+(?::[a-z]+)?\}`)

// spoilt is the request with hostile names, and often with another body, method or header.
func (at *surface) spoilt(r *rand.Rand, bodies []string) request {
	q := at.request
	word := func() string { return hostile[r.IntN(len(hostile))] }
	q.path = placeholder.ReplaceAllStringFunc(q.path, func(string) string {
		if w := word(); w != "" && r.IntN(4) > 0 {
			return url.PathEscape(w)
		}
		return "%2e%2e%2f%2e%2e"
	})
	if r.IntN(4) == 0 {
		sep := "?"
		if strings.Contains(q.path, "?") {
			sep = "&"
		}
		q.path += sep + []string{"limit", "cursor", "after", "protocol", "q", "stream", "session_id", "branch"}[r.IntN(8)] + "=" + url.QueryEscape(word())
	}
	switch kind := r.IntN(10); {
	case q.body == "":
	case kind == 0:
		q.body = bodies[r.IntN(len(bodies))]
	case kind == 1:
		q.body = q.body[:r.IntN(len(q.body))]
	default:
		q.body = mutated(r, q.body, word)
	}
	if r.IntN(6) == 0 && !strings.HasPrefix(q.path, "/mcp") {
		q.method = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"}[r.IntN(8)]
	}
	headers := []string{"X-Session-Id", "X-Agent-Schema", "X-Model-Name", "Idempotency-Key", "Last-Event-ID", "X-Protocol", "Accept", "X-Event-Format", "X-Added-Instruction", "X-Session-Name", "A2A-Version"}
	q.headers = append([]string{}, q.headers...)
	for range r.IntN(3) {
		q.headers = append(q.headers, headers[r.IntN(len(headers))], word())
	}
	return q
}

// mutated replaces a part of a JSON body.
func mutated(r *rand.Rand, body string, word func() string) string {
	body = placeholder.ReplaceAllStringFunc(body, func(string) string {
		text, _ := json.Marshal(word())
		return strings.Trim(string(text), `"`)
	})
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return body
	}
	other := []any{nil, true, -1, 1e308, "", []any{}, map[string]any{}, []any{[]any{nil}}, word()}[r.IntN(9)]
	var spoil func(v any, n *int) any
	spoil = func(v any, n *int) any {
		if *n--; *n == 0 {
			return other
		}
		switch v := v.(type) {
		case map[string]any:
			for name := range v {
				v[name] = spoil(v[name], n)
			}
		case []any:
			for i := range v {
				v[i] = spoil(v[i], n)
			}
		}
		return v
	}
	n := r.IntN(12)
	out, err := json.Marshal(spoil(v, &n))
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(out)
}
