package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"regexp"
	"strings"
	"testing"
)

// field reads a field of a JSON answer, by its path.
func field(t testing.TB, body string, path ...string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %.600s", err, body)
	}
	for _, name := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			v = nil
			if len(at) > 0 {
				v = at[len(at)-1]
			}
		}
	}
	if v == nil {
		t.Fatalf("no %s in %.600s", strings.Join(path, "."), body)
	}
	return fmt.Sprint(v)
}

func object(pairs ...any) string {
	fields := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields[pairs[i].(string)] = pairs[i+1]
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// asks is the body of a chat completion.
func asks(agent, text string, more ...any) string {
	return object(append([]any{"model", agent, "messages", []any{map[string]string{"role": "user", "content": text}}}, more...)...)
}

func form(t testing.TB, name, text, tags string) (kind, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", name)
	ok(t, err)
	_, err = io.WriteString(part, text)
	ok(t, err)
	ok(t, w.WriteField("tags", tags))
	ok(t, w.Close())
	return w.FormDataContentType(), b.String()
}

// mcp is a request in the MCP session of the one who sends it.
func mcp(method, params string) request {
	return request{method: "POST", path: "/mcp", body: rpc(method, params), headers: []string{"Accept", "application/json, text/event-stream", "Mcp-Session-Id", "{my:mcp}"}}
}

func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + `}`
}

// ghost returns vars of the same form as v that nobody has.
func ghost(v map[string]string) map[string]string {
	g := maps.Clone(v)
	for name, value := range v {
		g[name] = nobodys(value)
	}
	g["me"] = "user-nobody"
	return g
}

// changing are the parts of ids that make them unique.
var changing = regexp.MustCompile(`[0-9a-f]{12}|-\d+$|[0-9A-Z]{4}(?:_\d+)?$`)

// nobodys returns an id of the same form that does not exist.
func nobodys(value string) string {
	return changing.ReplaceAllStringFunc(value, func(end string) string {
		if end[0] == '-' {
			return "-9" + end[1:] // a name with a number, of which there are few
		}
		return strings.Map(func(r rune) rune {
			switch {
			case r == '9' || r == 'Z':
				return r - 1
			case r >= '0' && r <= '8', r >= 'a' && r <= 'e', r >= 'A' && r <= 'Y':
				return r + 1
			}
			return r
		}, end)
	})
}
