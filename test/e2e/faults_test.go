package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestProviderFaults pins what a client and the log see of each way in which a
// provider fails: p8's own words, with what to do, and nothing of the provider's.
func TestProviderFaults(t *testing.T) {
	provider := harness.Aimock(t, "testdata/faults.json")
	for _, tc := range []struct{ golden, message string }{
		{"unauthorized", "refuse the key"},
		{"rate_limited", "limit the rate"},
		{"internal_error", "fail inside"},
		{"bad_request", "refuse the request"},
		{"no_such_model", "forget the model"},
		{"cut_stream", "cut the stream"},
		{"garbage", "send garbage"},
		{"hang_up", "hang up"},
		{"strict", "what no fixture matches"},
	} {
		t.Run(tc.golden, func(t *testing.T) { checkFault(t, tc.golden, tc.message, provider.Env()) })
	}
	t.Run("nobody_listens", func(t *testing.T) {
		checkFault(t, "nobody_listens", "hello", []string{
			"OPENAI_BASE_URL=http://127.0.0.1:9/v1", "OPENAI_API_KEY=" + harness.ProviderKey, "P8_DEFAULT_MODEL=openai:gpt-4.1"})
	})
}

func checkFault(t *testing.T, golden, message string, env []string) {
	t.Helper()
	server := harness.Serve(t, harness.Options{Env: append(env, "P8_SCHEMA_DIR="+agents(t))})
	seen := transcript{server: server, logged: len(server.Stderr())}
	for _, stream := range []bool{false, true} {
		body, err := json.Marshal(map[string]any{
			"model": "clerk", "stream": stream,
			"messages": []map[string]string{{"role": "user", "content": message}},
		})
		if err != nil {
			t.Fatal(err)
		}
		seen.post(t, fmt.Sprintf("stream: %t", stream), "/v1/chat/completions", string(body))
	}
	seen.compare(t, "faults/"+golden+".golden")
}

// transcript collects the client's responses and the server's log.
type transcript struct {
	server *harness.Server
	logged int
	text   strings.Builder
}

// post sends a JSON body and notes status, body and the new lines of the log.
func (r *transcript) post(t *testing.T, title, path, body string, args ...string) {
	t.Helper()
	r.curl(t, title, path, append([]string{"-H", "Content-Type: application/json", "-d", body}, args...)...)
}

func (r *transcript) curl(t *testing.T, title, path string, args ...string) {
	t.Helper()
	status, out := harness.Curl(t, r.server.URL+path, args...)
	log := r.server.Stderr()
	fmt.Fprintf(&r.text, "== %s\nstatus: %d\nbody:\n%s\nstderr:\n%s\n\n", title, status,
		strings.TrimRight(out, "\n"), strings.TrimRight(log[r.logged:], "\n"))
	r.logged = len(log)
}

// compare checks the transcript against its golden file, and that nothing leaked
// into it.
func (r *transcript) compare(t *testing.T, name string) {
	t.Helper()
	text := r.text.String()
	for name, found := range leaks(text, r.server.DataDir) {
		t.Errorf("%s is shown: %q in\n%s", name, found, text)
	}
	golden.Compare(t, "testdata/"+name, settled(text))
}

// providerSaid is the field of the log that holds a provider's own words.
var providerSaid = regexp.MustCompile(` provider_said=("(?:[^"\\]|\\.)*"|\S+)`)

// leaked are the marks of what no client may see, and no log outside providerSaid.
var leaked = map[string]*regexp.Regexp{
	"a provider's words":  regexp.MustCompile(`PROVIDER-WORDS|Strict mode|no_fixture_match|Chaos|chaos`),
	"a Go error":          regexp.MustCompile(`unexpected EOF|\bEOF\b|dial tcp|connection re|lookup |json: |yaml: |invalid character|cannot unmarshal|net/http|http: |context (canceled|deadline)|sql: |sqlite|SQLITE|%!|0x[0-9a-f]{6,}`),
	"a stack":             regexp.MustCompile(`goroutine \d|panic|runtime\.|\.go:\d+`),
	"a path":              regexp.MustCompile(`/(home|root|tmp|usr|var|Users)/[^ "]*`),
	"the provider's host": regexp.MustCompile(`127\.0\.0\.1:\d+`),
}

// leaks returns what of leaked, and of the given folder, stands in the text.
func leaks(text, folder string) map[string]string {
	found := map[string]string{}
	if strings.Contains(text, harness.ProviderKey) {
		found["a key"] = harness.ProviderKey
	}
	if strings.Contains(text, folder) {
		found["the data folder"] = folder
	}
	text = providerSaid.ReplaceAllString(text, "")
	for name, pattern := range leaked {
		if s := pattern.FindString(text); s != "" {
			found[name] = s
		}
	}
	return found
}

// varying are the parts of a transcript that differ from run to run.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`chatcmpl-[0-9A-Za-z_-]+`), "chatcmpl-<id>"},
	{regexp.MustCompile(`"created":\d+`), `"created":0`},
	{regexp.MustCompile(`"(latency_ms|duration_ms)":\d+`), `"$1":0`},
	{regexp.MustCompile(`time=\S+`), "time=<time>"},
	{regexp.MustCompile(`\b(duration|latency|took|elapsed)=\S+`), "$1=<duration>"},
	{regexp.MustCompile(`\d{4}-\d{2}-\d{2}T[0-9:.]+(Z|[+-]\d{2}:\d{2})`), "<time>"},
}

// settled replaces values that vary.
func settled(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}
