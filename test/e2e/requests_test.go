package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

const completions = "/v1/chat/completions"

// TestBadRequests pins what a client and the log see of requests that cannot be
// served: what is wrong, where, and what to do.
func TestBadRequests(t *testing.T) {
	server := harness.Serve(t, harness.Options{Env: []string{"P8_DEFAULT_MODEL=offline:search", "P8_SCHEMA_DIR=" + agents(t)}})
	hello := `"messages":[{"role":"user","content":"hello"}]`
	for _, tc := range []struct {
		golden string
		send   func(t *testing.T, r *transcript)
	}{
		{"bad_json", func(t *testing.T, r *transcript) {
			r.post(t, "cut short", completions, `{"model":"clerk","messages":[`)
			r.post(t, "not JSON", completions, `model=clerk`)
			r.post(t, "a wrong type", completions, `{"model":"clerk","messages":"hello"}`)
			r.post(t, "nothing", completions, ``)
		}},
		{"bad_messages", func(t *testing.T, r *transcript) {
			r.post(t, "none", completions, `{"model":"clerk"}`)
			r.post(t, "empty", completions, `{"model":"clerk","messages":[]}`)
			r.post(t, "nothing of the user", completions, `{"model":"clerk","messages":[{"role":"system","content":"hello"}]}`)
			r.post(t, "an unknown role", completions, `{"model":"clerk","messages":[{"role":"wizard","content":"hello"}]}`)
		}},
		{"unknown_agent", func(t *testing.T, r *transcript) {
			r.post(t, "in the body", completions, `{"model":"clrek",`+hello+`}`)
			r.post(t, "streamed", completions, `{"model":"clrek","stream":true,`+hello+`}`)
			r.post(t, "in the header", completions, `{`+hello+`}`, "-H", "X-Agent-Schema: archvist")
			r.post(t, "a path", completions, `{`+hello+`}`, "-H", "X-Agent-Schema: ../../etc/passwd")
		}},
		{"unknown_model", func(t *testing.T, r *transcript) {
			r.post(t, "an unknown provider", completions, `{`+hello+`}`, "-H", "X-Model-Name: opnai:gpt-4.1")
			r.post(t, "no key", completions, `{`+hello+`}`, "-H", "X-Model-Name: openai:gpt-4.1")
		}},
		{"bad_headers", func(t *testing.T, r *transcript) {
			r.post(t, "a session id that is too long", completions, `{"model":"clerk",`+hello+`}`, "-H", "X-Session-Id: "+strings.Repeat("s", 129))
			r.post(t, "an event format", completions, `{"model":"clerk","stream":true,`+hello+`}`, "-H", "X-Event-Format: xml")
			r.post(t, "a foreign host", completions, `{"model":"clerk",`+hello+`}`, "-H", "Host: evil.example")
		}},
		{"content_type", func(t *testing.T, r *transcript) {
			r.curl(t, "a form", completions, "-d", "model=clerk")
			r.curl(t, "XML", completions, "-H", "Content-Type: application/xml", "-d", "<model/>")
		}},
		{"huge_body", func(t *testing.T, r *transcript) {
			file := filepath.Join(t.TempDir(), "huge.json")
			body := `{"model":"clerk","messages":[{"role":"user","content":"` + strings.Repeat("a", 6<<20) + `"}]}`
			if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			r.curl(t, "with its length", completions, "-H", "Content-Type: application/json", "--data-binary", "@"+file)
			r.curl(t, "in chunks", completions, "-H", "Content-Type: application/json", "-H", "Transfer-Encoding: chunked", "--data-binary", "@"+file)
		}},
		{"bad_document", func(t *testing.T, r *transcript) {
			yaml := []string{"-H", "Content-Type: application/yaml", "--data-binary"}
			r.curl(t, "no YAML", "/schemas/", append(yaml, "type: object\n  name: [oops\n")...)
			r.curl(t, "several mistakes", "/schemas/", append(yaml, "type: object\ndescripton: a typing error\nstructured_output: true\ntemperature: hot\n")...)
			r.post(t, "JSON", "/schemas/", `{"type":"object","name":"../up","description":"d","limits":{"request_limit":-1}}`)
		}},
		{"routes", func(t *testing.T, r *transcript) {
			r.curl(t, "no such route", "/v2/chat/completions")
			r.curl(t, "the wrong method", completions)
			r.curl(t, "no such session", "/sessions/nobody/messages")
			r.curl(t, "no such document", "/schemas/clrek")
		}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			r := &transcript{server: server, logged: len(server.Stderr())}
			tc.send(t, r)
			r.compare(t, "requests/"+tc.golden+".golden")
		})
	}
	status, body := harness.Curl(t, server.URL+completions, "-H", "Content-Type: application/json", "-d", `{"model":"clerk",`+hello+`}`)
	if status != 200 {
		t.Errorf("after all that a good request gets %d: %s", status, body)
	}
}
