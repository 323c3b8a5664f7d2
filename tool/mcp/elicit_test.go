//lint:file-ignore SA1019 servers of the revisions before 2026-07-28 ask and log this way, and will for years

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// user answers the questions of one call in order, as a run does.
type user struct {
	mu      sync.Mutex
	answers []tool.Answer
	asked   []tool.Question
}

func (u *user) Ask(_ context.Context, q tool.Question) (tool.Answer, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, q)
	if n := len(u.asked); n <= len(u.answers) {
		return u.answers[n-1], nil
	}
	return tool.Answer{}, tool.ErrPaused
}

// calls repeats the call from its beginning, with the answers so far.
func (u *user) calls(t *testing.T, s tool.Server, name, args string, answers ...string) (tool.Result, error) {
	t.Helper()
	u.asked, u.answers = nil, nil
	for _, content := range answers {
		a := tool.Answer{Action: content}
		if strings.HasPrefix(content, "{") {
			a = tool.Answer{Action: tool.Accepted, Content: json.RawMessage(content)}
		}
		u.answers = append(u.answers, a)
	}
	return call(t, tool.WithAsker(t.Context(), u), s, name, args)
}

const dayForm = `{"properties":{"day":{"type":"string"}},"required":["day"],"type":"object"}`

var daySchema = map[string]any{"type": "object", "properties": map[string]any{"day": map[string]any{"type": "string"}}, "required": []string{"day"}}

// asksMidway adds tools that ask in the middle of a call, as servers did until 2025-11-25;
// if asks is not nil, the tools ask once it is closed.
func asksMidway(s *sdk.Server, begun, asks, slow chan struct{}, late chan<- string) {
	say := func(format string, args ...any) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil, nil
	}
	book := func(ctx context.Context, req *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		begun <- struct{}{}
		if asks != nil {
			<-asks
		}
		day, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Which day, " + in.Text + "?", RequestedSchema: daySchema})
		if err != nil {
			return nil, nil, err
		}
		if day.Action != "accept" {
			return say("not booked: %s", day.Action)
		}
		sure, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Sure?", Mode: "url", URL: "https://example.com/pay?id=1", ElicitationID: "e1"})
		if err != nil {
			return nil, nil, err
		}
		return say("%s booked %v: %s", in.Text, day.Content["day"], sure.Action)
	}
	sdk.AddTool(s, &sdk.Tool{Name: "book"}, book)
	sdk.AddTool(s, &sdk.Tool{Name: "look", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, book)
	sdk.AddTool(s, &sdk.Tool{Name: "late"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		begun <- struct{}{}
		<-ctx.Done() // the call is cancelled, and asks in spite of that
		res, err := req.Session.Elicit(context.Background(), &sdk.ElicitParams{Message: "Too late?", RequestedSchema: daySchema})
		if err != nil {
			late <- err.Error()
		} else {
			late <- res.Action
		}
		return say("late")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "wait"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		begun <- struct{}{}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-slow:
			return say("waited")
		}
	})
}

// midway is a server that asks in the middle of its calls.
func midway(t *testing.T, begun, asks, slow chan struct{}, late chan<- string) tool.Server {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "asks", Version: "1"}, nil)
	asksMidway(server, begun, asks, slow, late)
	// A call whose end the server does not learn of must not outlive the test.
	over, end := context.WithCancel(context.Background())
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(over, cancel)()
			return next(ctx, method, req)
		}
	})
	srv := serve(t, "127.0.0.1:0", sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(func() {
		end()
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})
	return open(t, Options{}, "MCP_SERVER_CRM="+srv.URL).Server("crm")
}

func TestElicitationMidway(t *testing.T) {
	begun := make(chan struct{}, 20)
	s, u := midway(t, begun, nil, nil, nil), &user{}
	_, err := u.calls(t, s, "book", `{"text":"ada"}`)
	if !errors.Is(err, tool.ErrPaused) || len(u.asked) != 1 {
		t.Fatalf("%v, asked %v", err, u.asked)
	}
	if q := u.asked[0]; q.Kind != event.RequestElicitation || q.Message != "crm asks: Which day, ada?" || string(q.Schema) != dayForm {
		t.Errorf("asked %s %q %s", q.Kind, q.Message, q.Schema)
	}
	_, err = u.calls(t, s, "book", `{"text":"ada"}`, `{"day":"monday"}`)
	if !errors.Is(err, tool.ErrPaused) || len(u.asked) != 2 || u.asked[1].Message != "crm asks: Sure?\nhttps://example.com/pay?id=1" || u.asked[1].Schema != nil {
		t.Fatalf("%v, asked %v", err, u.asked)
	}
	for _, c := range []struct {
		answers []string
		want    string
	}{
		{[]string{`{"day":"monday"}`, tool.Accepted}, "ada booked monday: accept"},
		{[]string{`{"day":"monday"}`, tool.Declined}, "ada booked monday: decline"},
		{[]string{tool.Declined}, "not booked: decline"},
		{[]string{tool.Cancelled}, "not booked: cancel"},
		{[]string{tool.Expired}, "not booked: cancel"},
	} {
		res, err := u.calls(t, s, "book", `{"text":"ada"}`, c.answers...)
		if err != nil || res.Failed || res.Content != c.want {
			t.Errorf("%v: %v %v", c.answers, res, err)
		}
	}
	// An answer that does not fit the form fails the call.
	if res, err := u.calls(t, s, "book", `{"text":"ada"}`, `{"day":7}`); err != nil || !res.Failed {
		t.Errorf("a wrong answer: %v %v", res, err)
	}
	if got := says(t, s, "book", `{"text":"ada"}`); got != "not booked: decline" {
		t.Errorf("without anybody to ask: %s", got)
	}
	if remote := s.(*server); remote.alone.now() || len(begun) != 9 {
		t.Errorf("%d calls, alone %v", len(begun), remote.alone.now())
	}
	// A call that lends its model has its own connection.
	lent := tool.WithSampler(tool.WithAsker(t.Context(), &user{}), &sampler{})
	if _, err := call(t, lent, s, "book", `{"text":"ada"}`); !errors.Is(err, tool.ErrPaused) || len(begun) != 10 {
		t.Errorf("with a model: %v", err)
	}
}

// A question that may belong to several calls waits for the others; if all of them ask,
// each is repeated alone.
func TestElicitationOfSeveralCalls(t *testing.T) {
	begun, asks, slow := make(chan struct{}, 20), make(chan struct{}), make(chan struct{})
	s := midway(t, begun, asks, slow, nil)
	find(t, s, "book")
	var wait sync.WaitGroup
	users := []*user{{}, {}, {}}
	errs := make([]error, len(users))
	for i, u := range users {
		wait.Go(func() { _, errs[i] = u.calls(t, s, "book", fmt.Sprintf(`{"text":"u%d"}`, i)) })
	}
	var waited tool.Result
	var failed error
	wait.Go(func() { waited, failed = (&user{}).calls(t, s, "wait", `{}`) })
	for range 4 {
		within(t, begun, "a call")
	}
	close(asks)
	close(slow)
	wait.Wait()
	if failed != nil || waited.Content != "waited" {
		t.Errorf("the other call: %v %v", waited, failed)
	}
	for i, u := range users {
		want := fmt.Sprintf("crm asks: Which day, u%d?", i)
		if !errors.Is(errs[i], tool.ErrPaused) || len(u.asked) != 1 || u.asked[0].Message != want {
			t.Errorf("user %d: %v, asked %v", i, errs[i], u.asked)
		}
		res, err := u.calls(t, s, "book", fmt.Sprintf(`{"text":"u%d"}`, i), fmt.Sprintf(`{"day":"d%d"}`, i), tool.Accepted)
		if want := fmt.Sprintf("u%d booked d%d: accept", i, i); err != nil || res.Content != want {
			t.Errorf("user %d: %v %v", i, res, err)
		}
	}
}

// TestAQuestionOfACancelledCall: nobody gets it. The other calls go on, and ask their own
// users. Only a call that may be made twice is.
func TestAQuestionOfACancelledCall(t *testing.T) {
	for others, again := range map[string]int{"": 0, "wait": 0, "book": 0, "look": 1} {
		t.Run("beside "+others, func(t *testing.T) {
			begun, asks, slow, late := make(chan struct{}, 20), make(chan struct{}), make(chan struct{}), make(chan string, 1)
			s := midway(t, begun, asks, slow, late)
			find(t, s, "late")
			ctx, cancel := context.WithCancel(t.Context())
			gone, here := &user{}, &user{}
			var wait sync.WaitGroup
			wait.Go(func() {
				if _, err := call(t, tool.WithAsker(ctx, gone), s, "late", `{}`); !errors.Is(err, context.Canceled) {
					t.Errorf("the cancelled call: %v", err)
				}
			})
			within(t, begun, "the call")
			var res tool.Result
			var err error
			if others != "" {
				wait.Go(func() {
					res, err = here.calls(t, s, others, map[string]string{"wait": `{}`, "book": `{"text":"ada"}`, "look": `{"text":"ada"}`}[others])
				})
				within(t, begun, "the other call")
			}
			cancel()
			if answer := <-late; !strings.Contains(answer, "nobody was asked") {
				t.Errorf("the server is answered %q", answer)
			}
			close(asks)
			close(slow)
			wait.Wait()
			if len(begun) != again {
				t.Errorf("the other call is made again %d times", len(begun))
			}
			if len(gone.asked) > 0 {
				t.Errorf("the user of the cancelled call is asked %v", gone.asked)
			}
			switch others {
			case "wait":
				if err != nil || res.Content != "waited" || len(here.asked) > 0 {
					t.Errorf("the other call: %v %v, asked %v", res, err, here.asked)
				}
			case "book", "look":
				if !errors.Is(err, tool.ErrPaused) || len(here.asked) != 1 || here.asked[0].Message != "crm asks: Which day, ada?" {
					t.Errorf("the other call: %v %v, asked %v", res, err, here.asked)
				}
			}
		})
	}
}

// TestTheFirstQuestionAfterACancelledCall may be that call's. A call that asks fails then,
// and is not made twice, unless it may be; the next one asks its user.
func TestTheFirstQuestionAfterACancelledCall(t *testing.T) {
	for name, calls := range map[string]int{"book": 1, "look": 2} {
		begun := make(chan struct{}, 20)
		s, u := midway(t, begun, nil, nil, nil), &user{}
		find(t, s, "wait")
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := call(t, tool.WithAsker(ctx, &user{}), s, "wait", `{}`); !errors.Is(err, context.Canceled) {
				t.Errorf("the cancelled call: %v", err)
			}
		})
		within(t, begun, "the call")
		cancel()
		wait.Wait()
		_, err := u.calls(t, s, name, `{"text":"ada"}`)
		if n := len(begun); n != calls || errors.Is(err, tool.ErrPaused) != (calls == 2) {
			t.Errorf("%s is made %d times: %v", name, n, err)
		}
		if _, err := u.calls(t, s, name, `{"text":"ada"}`); !errors.Is(err, tool.ErrPaused) || len(u.asked) != 1 {
			t.Errorf("%s, again: %v, asked %v", name, err, u.asked)
		}
	}
}

// asksInstead is a server of 2026-07-28, which returns questions in place of an answer.
func asksInstead(t *testing.T) tool.Server {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "asks", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "book", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		p := req.Params
		switch p.RequestState {
		case "":
			return &sdk.CallToolResult{RequestState: "days", InputRequests: sdk.InputRequestMap{
				"b": &sdk.ElicitParams{Mode: "form", Message: "Until?", RequestedSchema: daySchema},
				"a": &sdk.ElicitParams{Mode: "form", Message: "From?", RequestedSchema: daySchema},
				"r": &sdk.ListRootsParams{},
			}}, nil
		case "days":
			from, _ := p.InputResponses["a"].(*sdk.ElicitResult)
			until, _ := p.InputResponses["b"].(*sdk.ElicitResult)
			if from == nil || until == nil || p.InputResponses["r"] == nil {
				return nil, errors.New("no answers")
			}
			return &sdk.CallToolResult{RequestState: fmt.Sprint(from.Action, " ", from.Content["day"], " ", until.Action), InputRequests: sdk.InputRequestMap{
				"c": &sdk.ElicitParams{Mode: "url", Message: "Pay.", URL: "https://example.com/pay"},
			}}, nil
		}
		paid, _ := p.InputResponses["c"].(*sdk.ElicitResult)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: p.RequestState + " " + paid.Action}}}, nil
	})
	server.AddTool(&sdk.Tool{Name: "secret", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"a": &sdk.ElicitParams{Mode: "url", Message: "Go.", URL: "javascript:alert(1)"}}}, nil
	})
	server.AddTool(&sdk.Tool{Name: "again", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"a": &sdk.ListRootsParams{}}}, nil
	})
	signedIn := false
	server.AddTool(&sdk.Tool{Name: "mail", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if signedIn {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "no mail"}}}, nil
		}
		signedIn = true // the second call finds the user signed in
		return nil, &jsonrpc.Error{Code: sdk.CodeURLElicitationRequired, Message: "sign in", Data: json.RawMessage(
			`{"elicitations":[{"mode":"url","message":"Sign in.","url":"https://example.com/login","elicitationId":"x"}]}`)}
	})
	srv := serve(t, "127.0.0.1:0", sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true}))
	return open(t, Options{}, "MCP_SERVER_CRM="+srv.URL).Server("crm")
}

func TestElicitationInsteadOfAnAnswer(t *testing.T) {
	s, u := asksInstead(t), &user{}
	_, err := u.calls(t, s, "book", `{}`)
	if !errors.Is(err, tool.ErrPaused) || len(u.asked) != 2 || u.asked[0].Message != "crm asks: From?" || u.asked[1].Message != "crm asks: Until?" {
		t.Fatalf("%v, asked %+v", err, u.asked)
	}
	_, err = u.calls(t, s, "book", `{}`, `{"day":"monday"}`, tool.Declined)
	if !errors.Is(err, tool.ErrPaused) || len(u.asked) != 3 || u.asked[2].Message != "crm asks: Pay.\nhttps://example.com/pay" {
		t.Fatalf("%v, asked %+v", err, u.asked)
	}
	res, err := u.calls(t, s, "book", `{}`, `{"day":"monday"}`, tool.Declined, tool.Accepted)
	if err != nil || res.Content != "accept monday decline accept" {
		t.Errorf("got %v %v", res, err)
	}
	if got := says(t, s, "book", `{}`); got != "decline <nil> decline decline" {
		t.Errorf("without anybody to ask: %s", got)
	}
	for name, want := range map[string]string{
		"secret": "the MCP server crm asks the user something that cannot be shown: the url is no address of a web page",
		"again":  "the MCP server crm asks again and again",
	} {
		var known *tool.Error
		if _, err := u.calls(t, s, name, `{}`); !errors.As(err, &known) || known.Message != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSignInFirst(t *testing.T) {
	s, u := asksInstead(t), &user{}
	_, err := u.calls(t, s, "mail", `{}`)
	if !errors.Is(err, tool.ErrPaused) || len(u.asked) != 1 || u.asked[0].Message != "crm asks: Sign in.\nhttps://example.com/login" {
		t.Fatalf("%v, asked %+v", err, u.asked)
	}
	if res, err := u.calls(t, s, "mail", `{}`); err != nil || res.Content != "no mail" {
		t.Errorf("signed in: %v %v", res, err)
	}
	fresh := asksInstead(t)
	if res, err := u.calls(t, fresh, "mail", `{}`, tool.Accepted); err != nil || res.Content != "no mail" {
		t.Errorf("accepted: %v %v", res, err)
	}
	var known *tool.Error
	if _, err := u.calls(t, asksInstead(t), "mail", `{}`, tool.Declined); !errors.As(err, &known) || !strings.Contains(known.Message, "needs somebody to sign in") {
		t.Errorf("declined: %v", err)
	}
}
