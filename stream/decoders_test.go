package stream_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/sse"
	"github.com/p8-org/p8/stream"
)

// breaking are the characters at which clients break lines, or that end a JSON string early.
const breaking = "a\u0085b\u2028c\u2029d\v\f\x1c\x1d\x1e\r\n\r\ndata: x\n\nid: 1\n\x00é 世\U0001f30d"

// hostile is a run whose every text has such characters.
func hostile(t *testing.T) []event.Event {
	t.Helper()
	raw := json.RawMessage("{\"text\":\"a\u0085b\u2028c\u2029d\"}")
	all := []event.Data{
		&event.ProgressData{Label: breaking},
		&event.ToolCallData{Name: "search", ID: "c1", Status: event.ToolStarted},
		&event.ToolCallData{Name: "search", ID: "c1", Status: event.ToolExecuting, Arguments: raw},
		&event.ToolCallData{Name: "search", ID: "c1", Status: event.ToolCompleted, Arguments: raw, Result: raw, Content: string(raw)},
		&event.ToolCallData{Name: "mine", ID: "c2", Status: event.ToolStarted},
		&event.ToolCallData{Name: "mine", ID: "c2", Status: event.ToolExecuting, Arguments: raw, Client: true},
		&event.WarningData{Code: "x", Message: breaking},
		&event.UsageData{InputTokens: 3, OutputTokens: 4},
		&event.DoneData{Reason: event.ReasonToolCalls},
	}
	out := []event.Event{{Type: event.Text, Text: breaking}, {Type: event.Reasoning, Text: breaking}}
	for _, d := range all {
		out = append(out, event.Event{Type: d.EventType(), Data: d})
	}
	for i := range out {
		out[i].Seq, out[i].RunID, out[i].Agent = int64(i+1), "r1", "general"
	}
	return out
}

// recorded returns all transcripts, and the hostile one.
func recorded(t *testing.T) []transcript {
	return append(transcripts(t), transcript{name: "hostile", events: hostile(t)})
}

// beats puts a comment behind every frame, as the heartbeat may.
func beats(raw []byte) string { return strings.ReplaceAll(string(raw), "\n\n", "\n\n: keep-alive\n\n") }

// protocolNames are the names of events that each protocol documents; nil is none.
var protocolNames = map[stream.Protocol]*regexp.Regexp{
	stream.ProtocolOpenAI:    regexp.MustCompile(`^[a-z_]+$`),
	stream.ProtocolEvents:    regexp.MustCompile(`^[a-z_]+$`),
	stream.ProtocolResponses: regexp.MustCompile(`^(response\.[a-z_.]+|p8\.[a-z_.]+|error)$`),
}

// TestEveryStreamIsSSE reads every protocol by the specification: each event has JSON, or is
// the last one, [DONE]; named events say their name in the JSON, too.
func TestEveryStreamIsSSE(t *testing.T) {
	for _, tr := range recorded(t) {
		all := protocols(&tr)
		all["agui 0"] = func() (stream.Protocol, stream.Options) { return stream.ProtocolAGUI0, tr.options(0) }
		for name, choice := range all {
			p, o := choice()
			o.Reader.IDs = true
			events, rest := sse.Parse(beats(encode(t, p, o, tr.events)))
			if rest != "" && rest != ": keep-alive\n\n" {
				t.Errorf("%s, %s: the last frame is not ended: %q", tr.name, name, rest)
			}
			for i, e := range events {
				var object map[string]json.RawMessage
				var kind string
				switch {
				case e.Data == "[DONE]" && i == len(events)-1 && (p == stream.ProtocolOpenAI || p == stream.ProtocolAISDK) && e.Name == "message":
					continue
				case json.Unmarshal([]byte(e.Data), &object) != nil || object == nil:
					t.Errorf("%s, %s: no JSON object: %+v", tr.name, name, e)
					continue
				case e.Name == "message":
					continue
				}
				_ = json.Unmarshal(object["type"], &kind)
				if names := protocolNames[p]; names == nil || !names.MatchString(e.Name) || kind != e.Name && kind != "" {
					t.Errorf("%s, %s: the event %q has the type %q", tr.name, name, e.Name, kind)
				}
			}
		}
	}
}

// chunk is what Python's clients read of a chunk: openai, langchain-openai, pydantic-ai,
// LiteLLM, instructor, llm.
type chunk struct {
	ID, Object, Model, Type string
	Created                 int64
	Error                   json.RawMessage
	Chunk                   json.RawMessage
	Choices                 *[]struct {
		Index *int
		Delta *struct {
			Role      string
			Content   *string
			ToolCalls []struct {
				Index    *int
				ID, Type string
				Function *struct{ Name, Arguments *string }
			} `json:"tool_calls"`
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage map[string]any
}

// finishes are the reasons that pydantic-ai and the SDKs' types know.
var finishes = []string{"stop", "length", "tool_calls", "content_filter"}

// TestPythonClients holds the frames of OpenAI's formats to the rules of these decoders, each
// with comments between the frames.
func TestPythonClients(t *testing.T) {
	for _, tr := range recorded(t) {
		for _, f := range []stream.Format{stream.Polyglot, stream.Unnamed, stream.None} {
			o := tr.options(f)
			o.Reader.IDs = true
			problem := func(e sse.Event, what string) { t.Errorf("%s, %s: %s: %+v", tr.name, f, what, e) }
			id, finished, used, failed := "", 0, 0, false
			roles, calls := 0, map[int]bool{}
			events := sse.Python(beats(encode(t, stream.ProtocolOpenAI, o, tr.events)))
			for i, e := range events {
				var c chunk
				switch {
				case e.Data == "[DONE]":
					if i != len(events)-1 || failed {
						problem(e, "[DONE] is not the end, or follows an error")
					}
					continue
				case e.ID != "":
					problem(e, "an id: every later comment is an event without data") // openai-python
				case json.Unmarshal([]byte(e.Data), &c) != nil:
					problem(e, "no JSON") // openai-python calls json.loads
					continue
				case len(c.Error) > 0: // an error at any place is an APIError, null too in old versions
					failed = true
					continue
				case f != stream.Polyglot && e.Name != "", strings.HasPrefix(e.Name, "thread."), e.Name == "error":
					problem(e, "a name that SDKs read otherwise")
				case c.Choices == nil, c.Object != "chat.completion.chunk", c.ID == "", c.Model == "", c.Created == 0:
					problem(e, "fields are missing")
					continue
				case id != "" && c.ID != id:
					problem(e, "another id") // LiteLLM and npm's stream() take the chunks together by it
				case c.Type == "content.delta" || len(c.Chunk) > 0:
					problem(e, "langchain-openai reads this as its own event")
				}
				id = c.ID
				if c.Usage != nil {
					used++ // pydantic-ai adds them up
					for _, key := range []string{"prompt_tokens", "completion_tokens", "total_tokens"} {
						if _, ok := c.Usage[key].(float64); !ok { // llm pops all three
							problem(e, "the usage has no "+key)
						}
					}
				}
				if len(*c.Choices) == 0 {
					if c.Usage == nil {
						problem(e, "no choice") // the usual loop reads choices[0]
					}
					continue
				}
				choice := (*c.Choices)[0]
				if choice.Index == nil || *choice.Index != 0 || choice.Delta == nil || len(*c.Choices) > 1 {
					problem(e, "the choice is not whole")
					continue
				}
				if choice.Delta.Role != "" {
					roles++
				}
				if i == 0 && choice.Delta.Role != "assistant" && tr.reader.Past == 0 {
					problem(e, "the first frame has no role") // npm's stream() of 4.20
				}
				if choice.FinishReason != nil {
					finished++
					if !slices.Contains(finishes, *choice.FinishReason) {
						problem(e, "an unknown reason to finish")
					}
				} else if finished > 0 && choice.Delta.Content != nil && *choice.Delta.Content != "" {
					problem(e, "text after the finish") // LiteLLM stops there
				}
				for _, call := range choice.Delta.ToolCalls {
					switch { // instructor and llm read function.arguments of each, the first has the rest
					case call.Index == nil || call.Function == nil || call.Function.Arguments == nil:
						problem(e, "a call is not whole")
					case !calls[*call.Index] && (call.ID == "" || call.Type != "function" || call.Function.Name == nil):
						problem(e, "the first piece of a call lacks its head")
					default:
						calls[*call.Index] = true
					}
				}
			}
			if !failed && (finished != 1 || used > 1 || roles > 1) {
				t.Errorf("%s, %s: finished %d times, with %d usages and %d roles", tr.name, f, finished, used, roles)
			}
		}
	}
}
