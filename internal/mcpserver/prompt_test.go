package mcpserver_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/tool"
)

func TestNewRefuses(t *testing.T) {
	same := []tool.Tool{who{spec(t, "who")}, who{spec(t, "who")}}
	for want, o := range map[string]mcpserver.Options{
		`mcpserver: two tools are named "who"`:                             {Tools: same},
		"mcpserver: exposed agents need a catalog and a chat":              {ExposeAgents: []string{"*"}},
		`mcpserver: tool: the name "" is not 1-64 letters, digits, _ or -`: {Tools: []tool.Tool{who{}}},
	} {
		if _, err := mcpserver.New(o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestPromptAndInstructions(t *testing.T) {
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{who{spec(t, "who")}}})
	c := connect(t, s, identity.Identity{}, nil)
	if got := c.InitializeResult().Instructions; !strings.Contains(got, "`search`") || !strings.Contains(got, "`ask_rem`") || !strings.Contains(got, "`action`") {
		t.Errorf("instructions: %q", got)
	}
	prompt, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "create_agent", Arguments: map[string]string{"purpose": "reads mail"}})
	if err != nil {
		t.Fatal(err)
	}
	got := prompt.Messages[0].Content.(*sdk.TextContent).Text
	for _, want := range []string{"Purpose: reads mail", "- `who`: A tool for tests.", "save_agent"} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if strings.Contains(got, "{{") {
		t.Error("a placeholder is left")
	}
	if _, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "create_agent"}); err == nil || !strings.Contains(err.Error(), "purpose is empty") {
		t.Error(err)
	}
}
