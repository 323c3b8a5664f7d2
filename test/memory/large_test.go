package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// archive is an MCP server whose one tool gives a text of 100,000 characters.
func archive(t *testing.T) (url, text string) {
	t.Helper()
	var b strings.Builder
	for i := 0; utf8.RuneCountInString(b.String()) < 100_000; i += 100 {
		for j := range 100 {
			fmt.Fprintf(&b, "Folder %d: Größe und Maß, 日本 %x.\n", i+j, (i+j)*7919)
		}
	}
	text = string([]rune(b.String())[:100_000])
	s := mcp.NewServer(&mcp.Implementation{Name: "archive", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "read_archive", Description: "Reads all of it."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, text
}

// obey is a model that makes the calls of its message: "call NAME ARGUMENTS".
func obey(x harness.Exchange) harness.Reply {
	text, answered := x.Question()
	call, ok := strings.CutPrefix(text, "call ")
	if !ok || answered {
		return harness.Reply{Text: []string{"Done."}}
	}
	name, arguments, _ := strings.Cut(call, " ")
	return harness.Reply{Calls: []harness.Call{{ID: fmt.Sprintf("call_%d", len(x.Body.Messages)), Name: name, Arguments: arguments}}}
}

// nextPart is the key in what a model is shown of a long result.
var nextPart = regexp.MustCompile(`\[Result truncated after 6000 of 100000 characters - REM LOOKUP "?(message-[0-9a-f-]+)-part-2"? for the next part\]`)

// A long result is kept whole; the model is shown its beginning and the key of the
// rest, also in later turns and where a nested agent called the tool.
func TestLongResult(t *testing.T) {
	t.Parallel()
	url, whole := archive(t)
	everywhere(t, func(t *testing.T, p *place) {
		model := harness.NewFake(t, obey)
		p.Env = append(p.Env, model.Env()...)
		p.Env = append(p.Env, "MCP_SERVER_ARCHIVE="+url)
		s := harness.Serve(t, p.Options)
		talk := func(text string) []harness.Exchange {
			t.Helper()
			s.Chat(t, harness.Ask{Agent: "archivist", Session: "files", Text: text, Headers: alice.headers()})
			return model.Asked()
		}
		own := talk("call read_archive {}")
		excerpt := shown(t, own[len(own)-1])
		if len(excerpt) != 1 || !strings.HasPrefix(excerpt[0], string([]rune(whole)[:6000])) {
			t.Fatalf("the model is shown %.300q", excerpt)
		}
		reassembles(t, s, excerpt[0], whole)

		nested := talk("call ask_agent " + object("agent_name", "clerk", "input_text", "call read_archive {}"))
		if got := shown(t, nested[0]); len(got) != 1 || got[0] != excerpt[0] {
			t.Errorf("the second turn is shown %.300q", got)
		}
		below := 0
		for _, x := range nested {
			for _, text := range shown(t, x) {
				if text != excerpt[0] {
					below++
					reassembles(t, s, text, whole)
				}
			}
		}
		if below != 1 {
			t.Errorf("the nested agent was shown %d excerpts", below)
		}
		third := talk("and now?")
		if got := shown(t, third[0]); len(got) != 1 || got[0] != excerpt[0] {
			t.Errorf("the third turn is shown %.300q", got)
		}
		rows := 0
		var stored []harness.Row
		get(t, s, alice, "/sessions/files/messages?limit=500", &stored)
		for _, row := range stored {
			if row.ToolName == "read_archive" && row.Type == "tool_response" {
				rows++
				if row.Content == nil || *row.Content != whole {
					t.Error("the row of the result is not whole")
				}
			}
		}
		if rows != 2 {
			t.Errorf("there are %d rows of results", rows)
		}
	})
}

// shown are the excerpts in a request, which holds nothing longer.
func shown(t *testing.T, x harness.Exchange) (excerpts []string) {
	t.Helper()
	for _, m := range x.Body.Messages {
		text := m.Text()
		if n := utf8.RuneCountInString(text); m.Role != "system" && n > 6200 {
			t.Errorf("a message of the role %s has %d characters", m.Role, n)
		}
		if nextPart.MatchString(text) {
			excerpts = append(excerpts, text)
		}
	}
	return excerpts
}

// reassembles follows the key of an excerpt, part by part.
func reassembles(t *testing.T, s *harness.Server, excerpt, whole string) {
	t.Helper()
	at := nextPart.FindStringSubmatchIndex(excerpt)
	got, key := string([]rune(excerpt)[:6000]), excerpt[at[2]:at[3]]+"-part-2"
	for parts := 1; key != ""; parts++ {
		if parts > 100 {
			t.Fatal("the parts do not end")
		}
		var answer struct {
			Results []struct {
				Data struct {
					Content  string                `json:"content"`
					Metadata struct{ Next string } `json:"metadata"`
				} `json:"data"`
			}
		}
		text := query(t, s, alice, "LOOKUP "+key)
		if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Results) != 1 {
			t.Fatalf("LOOKUP %s: %v in %.300s", key, err, text)
		}
		if other := query(t, s, bob, "LOOKUP "+key); !strings.Contains(other, `"results":[]`) {
			t.Errorf("somebody else reads %s: %.300s", key, other)
		}
		got += answer.Results[0].Data.Content
		key = answer.Results[0].Data.Metadata.Next
	}
	if got != whole {
		t.Errorf("the parts make %d bytes, want %d", len(got), len(whole))
	}
}
