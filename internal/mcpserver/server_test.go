package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// who is a tool that returns the caller.
type who struct{ tool.Base }

func (who) Annotations() tool.Annotations {
	return tool.Annotations{Title: "Who", ReadOnly: true, Output: json.RawMessage(`{"type":"object","properties":{"user":{"type":"string"}},"required":["user"]}`)}
}

func (who) Call(ctx context.Context, _ tool.Call) (tool.Result, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Content: fmt.Sprintf(`{"user":%q}`, id.TenantID+"/"+id.UserID+"/"+id.SessionID)}, nil
}

// streaming is a tool with a function of the test.
type streaming struct {
	tool.Base
	stream func(ctx context.Context, emit func(event.Event) bool) (tool.Result, error)
}

func (s streaming) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return s.Stream(ctx, c, func(event.Event) bool { return true })
}

func (s streaming) Stream(ctx context.Context, _ tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	return s.stream(ctx, emit)
}

// hurried is a tool with a shorter timeout.
type hurried struct{ streaming }

func (hurried) Timeout(tool.Call) time.Duration { return 50 * time.Millisecond }

func spec(t testing.TB, name string) tool.Base {
	t.Helper()
	base, err := tool.NewBase(llm.ToolSpec{
		Name: name, Description: "A tool for tests.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":false}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func newServer(t testing.TB, o mcpserver.Options) *mcpserver.Server {
	t.Helper()
	if o.Logger == nil {
		o.Logger = quiet
	}
	s, err := mcpserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// sessions is the last revision with sessions.
const sessions = "2025-11-25"

// connect connects a client of the newest revision over a pipe.
func connect(t testing.TB, s *mcpserver.Server, id identity.Identity, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	return connectAs(t, s, id, o, "")
}

func connectAs(t testing.TB, s *mcpserver.Server, id identity.Identity, o *sdk.ClientOptions, version string) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, cancel := context.WithCancel(identity.With(context.Background(), id))
	done := make(chan error, 1)
	go func() { done <- s.Stdio(ctx, toServer, fromServer) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return session
}

func call(t testing.TB, c *sdk.ClientSession, name string, args any) *sdk.CallToolResult {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(res *sdk.CallToolResult) string {
	if len(res.Content) == 0 {
		return ""
	}
	if c, ok := res.Content[0].(*sdk.TextContent); ok {
		return c.Text
	}
	return fmt.Sprintf("%T", res.Content[0])
}

func TestTools(t *testing.T) {
	panics := func(context.Context, func(event.Event) bool) (tool.Result, error) { panic("secret") }
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{
		who{spec(t, "who")},
		streaming{spec(t, "breaks"), func(context.Context, func(event.Event) bool) (tool.Result, error) {
			return tool.Result{}, errors.New("dial 10.0.0.1: secret")
		}},
		streaming{spec(t, "refuses"), func(context.Context, func(event.Event) bool) (tool.Result, error) {
			return tool.Result{}, &tool.Error{Message: "the shelf is empty"}
		}},
		streaming{spec(t, "fails"), func(context.Context, func(event.Event) bool) (tool.Result, error) {
			return tool.Result{Content: `{"status":"error"}`, Failed: true}, nil
		}},
		streaming{spec(t, "panics"), panics},
		hurried{streaming{spec(t, "sleeps"), func(ctx context.Context, _ func(event.Event) bool) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}},
		streaming{spec(t, "draws"), func(context.Context, func(event.Event) bool) (tool.Result, error) {
			return tool.Result{Content: "a picture and a page", Parts: []llm.Part{
				{Kind: llm.Image, MediaType: "image/png", Data: []byte("png")},
				{Kind: llm.Document, MediaType: "application/pdf", Data: []byte("pdf"), Name: "a b.pdf"},
				{Kind: llm.Image, URL: "https://example.com/x.png"},
			}}, nil
		}},
	}})
	c := connect(t, s, identity.Identity{UserID: "alice"}, nil)

	t.Run("described", func(t *testing.T) {
		list, err := c.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 7 {
			t.Fatalf("%d tools, %v", len(list.Tools), err)
		}
		who := list.Tools[len(list.Tools)-1]
		if who.Name != "who" || who.Title != "Who" || !who.Annotations.ReadOnlyHint || *who.Annotations.OpenWorldHint || who.OutputSchema == nil {
			t.Errorf("%+v", who)
		}
	})
	t.Run("structured", func(t *testing.T) {
		res := call(t, c, "who", nil)
		got, _ := res.StructuredContent.(map[string]any)
		if res.IsError || got["user"] != "default/alice/" || text(res) != `{"user":"default/alice/"}` {
			t.Errorf("%+v", res)
		}
	})
	for name, want := range map[string]string{
		"breaks":  "the tool failed; the server's log has the reason; trying again may help",
		"refuses": "the shelf is empty",
		"fails":   `{"status":"error"}`,
		"panics":  "the tool failed unexpectedly",
		"sleeps":  "the tool did not answer in time",
	} {
		t.Run(name, func(t *testing.T) {
			if res := call(t, c, name, nil); !res.IsError || text(res) != want {
				t.Errorf("%v %q", res.IsError, text(res))
			}
		})
	}
	t.Run("arguments are checked", func(t *testing.T) {
		res := call(t, c, "who", map[string]any{"n": 0, "x": 1})
		if !res.IsError || !strings.HasPrefix(text(res), "the arguments do not fit the tool's schema: ") {
			t.Errorf("%q", text(res))
		}
	})
	t.Run("parts", func(t *testing.T) {
		res := call(t, c, "draws", nil)
		image, _ := res.Content[1].(*sdk.ImageContent)
		file, _ := res.Content[2].(*sdk.EmbeddedResource)
		link, _ := res.Content[3].(*sdk.ResourceLink)
		if image == nil || string(image.Data) != "png" || file == nil || string(file.Resource.Blob) != "pdf" ||
			file.Resource.URI != "attachment:///a%20b.pdf" || link == nil || link.URI != "https://example.com/x.png" {
			t.Errorf("%v", res.Content)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "nothing"})
		if err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Error(err)
		}
	})
}

func TestCancelledCall(t *testing.T) {
	began, ended := make(chan bool), make(chan error, 1)
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{
		streaming{spec(t, "waits"), func(ctx context.Context, _ func(event.Event) bool) (tool.Result, error) {
			began <- true
			<-ctx.Done()
			ended <- ctx.Err()
			return tool.Result{}, ctx.Err()
		}},
	}})
	c := connect(t, s, identity.Identity{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "waits"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
