package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/openai"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
	"github.com/p8-org/p8/stream"
	"github.com/p8-org/p8/tool"
)

// document is a conversational agent of ordinary size.
const document = `type: object
name: bench
description: |
  You are a friendly assistant with access to a knowledge base. Search before
  you make claims about the user's data, and name the keys of what you found.
properties:
  user_intent:
    type: string
    enum: [question, task, greeting, follow-up]
    description: What the user wants
  topic:
    type: string
    description: Primary topic the user is asking about
tools:
  - name: weather
    description: Look outside first
limits:
  request_limit: 10
`

func parse(tb testing.TB) *agent.Document {
	tb.Helper()
	doc, err := agent.Parse("bench.yaml", []byte(document))
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// service is a chat service around one agent, one model and one tool, set up as
// the binary does, with the given store.
func service(tb testing.TB, model llm.Model, sessions chat.Store) *chat.Service {
	tb.Helper()
	return serviceWith(tb, model, sessions, tool.Annotations{ReadOnly: true})
}

// serviceWith is a service whose tool is annotated.
func serviceWith(tb testing.TB, model llm.Model, sessions chat.Store, a tool.Annotations) *chat.Service {
	tb.Helper()
	compiled, err := agent.Compile(parse(tb))
	if err != nil {
		tb.Fatal(err)
	}
	type place struct {
		City string `json:"city"`
	}
	weather, err := tool.New("weather", "Tells the weather of a city.", func(_ context.Context, in place) (any, error) {
		return map[string]string{"city": in.City, "sky": "clear"}, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if weather, err = tool.Annotate(weather, a); err != nil {
		tb.Fatal(err)
	}
	s, err := chat.New(chat.Options{
		Catalog: one{compiled}, Models: only{model}, Tools: fixed{weather}, Store: sessions,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

type one struct{ agent *agent.Agent }

func (o one) Agent(context.Context, string) (*agent.Agent, error) { return o.agent, nil }

type only struct{ model llm.Model }

func (o only) Resolve(string) (llm.Model, error) { return o.model, nil }

type fixed []tool.Tool

func (f fixed) Resolve(context.Context, *agent.Agent) tool.Resolved { return tool.Resolved{Tools: f} }

// embedded is the embedded store in a new folder.
func embedded(tb testing.TB) *store.Store {
	tb.Helper()
	s, err := sqlite.Open(context.Background(), sqlite.Options{Dir: tb.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// client is a user who opens one session after the other.
type client struct {
	sessions int
}

// turn has one turn in a new session and reads it to its end.
func (c *client) turn(tb testing.TB, s *chat.Service, read func(event.Event) error) {
	c.sessions++
	ctx := identity.With(context.Background(), identity.Identity{SessionID: "s" + strconv.Itoa(c.sessions)})
	turn, err := s.Start(ctx, chat.Request{Input: "What is the weather like?"})
	if err != nil {
		tb.Fatal(err)
	}
	reason := ""
	for e, err := range turn.Events(ctx) {
		if err != nil {
			tb.Fatal(err)
		}
		if done, ok := e.Data.(*event.DoneData); ok {
			reason = done.Reason
		}
		if err := read(e); err != nil {
			tb.Fatal(err)
		}
	}
	if reason != event.ReasonStop {
		tb.Fatalf("the run ended with %q", reason)
	}
}

func ignore(event.Event) error { return nil }

func textModel() llm.Model {
	return scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text("It is clear ", "and warm."))
}

func toolModel() llm.Model {
	return scripted.NewWith(scripted.Options{Repeat: true},
		scripted.Call("weather", `{"city":"Lisbon"}`), scripted.Text("It is clear ", "in Lisbon."))
}

// wireModel is the OpenAI client on a connection that replays one recorded
// answer of so many chunks.
func wireModel(tb testing.TB, chunks int) llm.Model {
	tb.Helper()
	model, err := openai.New(openai.Options{
		Model: "gpt-4.1", APIKey: "unused", HTTPClient: &http.Client{Transport: replay(answer(chunks))},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return model
}

// answer is the body of a provider's streamed answer.
func answer(chunks int) []byte {
	var b bytes.Buffer
	const head = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4.1","choices":[`
	b.WriteString(head + `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}` + "\n\n")
	for i := range chunks {
		fmt.Fprintf(&b, head+`{"index":0,"delta":{"content":"piece %d of it "},"logprobs":null,"finish_reason":null}]}`+"\n\n", i)
	}
	b.WriteString(head + `{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}` + "\n\n")
	b.WriteString(head + `],"usage":{"prompt_tokens":9,"completion_tokens":100,"total_tokens":109}}` + "\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

// replay answers every request with the same bytes.
type replay []byte

func (r replay) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(r)), Request: req,
	}, nil
}

// encoder prints a run as a client gets it.
func encoder(w io.Writer) stream.Encoder {
	return stream.New(stream.ProtocolOpenAI, w, stream.Options{
		OpenAI: stream.OpenAIOptions{ID: "chatcmpl-1", Model: "bench", Created: time.Unix(1760000000, 0)},
	})
}
