//lint:file-ignore SA1019 servers of the revisions before 2026-07-28 ask and log this way, and will for years

package mcp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/tool"
)

// childEnv makes the test program an MCP server on its standard input.
const childEnv = "P8_TEST_MCP_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := newFixture().server().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fixture is a server with a tool for each behaviour of tools.
type fixture struct {
	calls     atomic.Int64
	waiting   chan struct{}
	cancelled chan struct{}
	release   chan struct{}
	// end lets slow calls return.
	end func()
}

func newFixture() *fixture {
	release := make(chan struct{})
	return &fixture{
		waiting: make(chan struct{}, 10), cancelled: make(chan struct{}, 10),
		release: release, end: sync.OnceFunc(func() { close(release) }),
	}
}

type text struct {
	Text string `json:"text"`
}

func (f *fixture) server() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "fixture", Version: "1"}, nil)
	f.addTools(s)
	s.AddResource(&sdk.Resource{URI: "notes://one", Name: "one", MIMEType: "text/plain", Description: "The first note."},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "notes://one", MIMEType: "text/plain", Text: "first"}}}, nil
		})
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "notes://by/{id}", Name: "by id"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: "image/png", Blob: []byte{1, 2, 3}}}}, nil
		})
	return s
}

func (f *fixture) addTools(s *sdk.Server) {
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again."}, func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		f.calls.Add(1)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	type list struct {
		Names []string `json:"names"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "structured"}, func(_ context.Context, _ *sdk.CallToolRequest, in list) (*sdk.CallToolResult, list, error) {
		return nil, in, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "progress"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		for i := 1; i <= 5; i++ {
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(i), Total: 5, Message: "step",
			})
		}
		<-f.release // progress may come after the result, and is of no use then
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil, nil
	})
	s.AddTool(&sdk.Tool{Name: "image", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "look:"},
			&sdk.ImageContent{MIMEType: "image/png", Data: make([]byte, 1500)},
			&sdk.AudioContent{MIMEType: "audio/wav", Data: make([]byte, 10)},
			&sdk.ResourceLink{URI: "notes://one", Name: "one", Description: "The first note."},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "notes://two", MIMEType: "text/plain", Text: "second"}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "notes://pdf", MIMEType: "application/pdf", Blob: []byte("%PDF")}},
		}}, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "no luck today"}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "slow"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		f.calls.Add(1)
		f.waiting <- struct{}{}
		select {
		case <-ctx.Done():
			f.cancelled <- struct{}{}
			return nil, nil, ctx.Err()
		case <-f.release:
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "at last"}}}, nil, nil
		}
	})
	sdk.AddTool(s, &sdk.Tool{Name: "die"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		os.Exit(3)
		return nil, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "environment"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: os.Getenv("SECRET_KEY") + "/" + os.Getenv("GIVEN")}}}, nil, nil
	})
	type who struct {
		UserID string `json:"user_id"`
		About  string `json:"about,omitempty"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "get.profile"}, func(_ context.Context, _ *sdk.CallToolRequest, in who) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.UserID + "/" + in.About}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "more"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		sdk.AddTool(s, &sdk.Tool{Name: "added"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{}, nil, nil
		})
		return &sdk.CallToolResult{}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "ask"}, func(ctx context.Context, req *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		res, err := req.Session.CreateMessage(ctx, &sdk.CreateMessageParams{
			SystemPrompt: "be brief", MaxTokens: 7, StopSequences: []string{"END"},
			Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: in.Text}}},
		})
		if err != nil {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "refused"}}}, nil, nil
		}
		said, _ := res.Content.(*sdk.TextContent)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Model + " says " + said.Text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "elicit"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		res, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "sure?", RequestedSchema: map[string]any{"type": "object"}})
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Action}}}, nil, nil
	})
}

// overHTTP serves the fixture on a new port, with sessions.
func (f *fixture) overHTTP(t testing.TB) *httptest.Server {
	t.Helper()
	return f.listen(t, "127.0.0.1:0", nil)
}

// handler serves the fixture without sessions.
func (f *fixture) handler() http.Handler {
	s := f.server()
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
}

// listen serves on an address, so that a server can restart there.
func (f *fixture) listen(t testing.TB, address string, wrap func(http.Handler) http.Handler) *httptest.Server {
	t.Helper()
	s := f.server()
	var h http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	if wrap != nil {
		h = wrap(h)
	}
	// Sessions outlive a server that is killed; in a test they must not.
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	srv := serve(t, address, h)
	t.Cleanup(f.end)
	return srv
}

func serve(t testing.TB, address string, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(h)
	srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	t.Cleanup(func() { kill(srv) })
	return srv
}

// kill ends a server as a power cut would.
func kill(srv *httptest.Server) {
	srv.CloseClientConnections()
	srv.Listener.Close()
	srv.CloseClientConnections()
	srv.Close()
}

// open makes the servers of an environment and closes them with the test.
func open(t testing.TB, o Options, environ ...string) *Servers {
	t.Helper()
	o.Environ = environ
	if o.Environ == nil {
		o.Environ = []string{}
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// find returns a tool of a server by the server's own name.
func find(t testing.TB, s tool.Server, name string) tool.Streamer {
	t.Helper()
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range tools {
		if remote, ok := found.(*remoteTool); ok && remote.Original() == name {
			return remote
		}
	}
	t.Fatalf("the server has no tool %s", name)
	return nil
}

func call(t testing.TB, ctx context.Context, s tool.Server, name, args string) (tool.Result, error) {
	t.Helper()
	return find(t, s, name).Call(ctx, tool.Call{ID: "call_1", Name: name, Arguments: []byte(args)})
}

// says is call for a result that is not a failure.
func says(t testing.TB, s tool.Server, name, args string) string {
	t.Helper()
	res, err := call(t, t.Context(), s, name, args)
	if err != nil || res.Failed {
		t.Fatalf("%s: %v %v", name, res, err)
	}
	return res.Content
}

func asUser(t testing.TB, user string) context.Context {
	return identity.With(t.Context(), identity.Identity{UserID: user, TenantID: "acme"})
}

// within fails the test if no value comes.
func within[T any](t testing.TB, c <-chan T, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("%s did not happen", what)
	}
}
