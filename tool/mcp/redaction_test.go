package mcp

import (
	"encoding/json"
	"testing"
)

// blind hides everything, and marks what it has received.
type blind struct{}

func (blind) HideJSON(string) string      { return `{"text":"hidden"}` }
func (blind) Received(text string) string { return text + ", received" }

func TestSecretsAreHiddenFromServers(t *testing.T) {
	f := newFixture()
	s := open(t, Options{Redact: func() Redaction { return blind{} }}, "MCP_SERVER_X="+f.overHTTP(t).URL).Server("x")
	if got := says(t, s, "echo", `{"text":"sarah@example.com"}`); got != "hidden, received" {
		t.Errorf("echo says %q", got)
	}
	found, err := s.Read(t.Context(), "notes://one")
	if err != nil || len(found) == 0 || found[0].Text[len(found[0].Text)-len(", received"):] != ", received" {
		t.Errorf("the resource: %v, %v", found, err)
	}
	remote, _ := find(t, s, "echo").(*remoteTool)
	if args, err := remote.arguments(t.Context(), hideArguments(openly{}, json.RawMessage(`{"text":"x"}`))); err != nil || string(args["text"]) != `"x"` {
		t.Errorf("without a redactor: %s, %v", args, err)
	}
}
