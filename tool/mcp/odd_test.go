package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/tool"
)

// odd is a server written by hand, with answers that no SDK would give.
func odd(t *testing.T, answers map[string]string) *server {
	t.Helper()
	answers["initialize"] = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":null}`
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var msg struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&msg) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if msg.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		result, ok := answers[msg.Method]
		if !ok {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, msg.ID)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, msg.ID, result)
	})
	s, ok := open(t, Options{}, "MCP_SERVER_X="+serve(t, "127.0.0.1:0", h).URL).Server("x").(*server)
	if !ok {
		t.Fatal("not a server")
	}
	return s
}

func TestAnOddServer(t *testing.T) {
	s := odd(t, map[string]string{
		"tools/list": `{"tools":[null,
			{"name":"a.b","inputSchema":{"type":"object"}},
			{"name":"a_b","description":"\u001b[31mred\u202e\ufeff \udb40\udc41line\nnext\ttab é","inputSchema":{"type":"object"}},
			{"name":"clear\u001b[2J","inputSchema":{"type":"object"}},
			{"name":"` + strings.Repeat("n", 300) + `","inputSchema":{"type":"object"}},
			{"name":"deep","inputSchema":{"type":"object","properties":{"of":{"type":"object","properties":{"user_id":{"type":"string"}}}}}},
			{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"$ref":"#/none"}}}}]}`,
		"resources/list":           `{"resources":[null,{"uri":"x://1","name":"one"}]}`,
		"resources/templates/list": `{"resourceTemplates":[null]}`,
		"resources/read":           `{"contents":[null]}`,
		"tools/call":               `{"content":[{"type":"text","text":"hi"}]}`,
	})
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, made := range tools {
		names = append(names, tool.OriginalName(made)+"="+made.Spec().Name)
	}
	// A name that providers accept stays, whichever other names are changed.
	if got := strings.Join(names, " "); got != "a.b=a_b_2 a_b=a_b" {
		t.Error(got)
	}
	if got := tools[1].Spec().Description; got != "[31mred line\nnext\ttab é" {
		t.Errorf("%q", got)
	}
	for name, want := range map[string]string{
		"a_b": "", "none": "",
		"deep": "an argument inside another one asks who is calling, which p8 does not let a model say",
		"bad":  "the schema of its arguments is not valid",
	} {
		if got := s.Unusable(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	list, err := s.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	if got := says(t, s, "a_b", `{}`); got != "hi" {
		t.Error(got)
	}
}
