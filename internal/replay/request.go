package replay

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/p8-org/p8/llm"
)

// Request is a request to a model, as it is kept and compared.
type Request struct {
	// Agent is the agent that asks, if it is known.
	Agent string `json:"agent,omitempty"`
	Model string `json:"model"`
	// Follows and ToolsOf are for files alone: the messages begin with those of that
	// request, the tools are those of that one.
	Follows    int             `json:"follows,omitempty"`
	ToolsOf    int             `json:"tools_of,omitempty"`
	Messages   []Message       `json:"messages"`
	Tools      []Tool          `json:"tools,omitempty"`
	Output     json.RawMessage `json:"output_schema,omitempty"`
	ToolChoice string          `json:"tool_choice,omitempty"`
	Settings   llm.Settings    `json:"settings,omitzero"`
}

// Message is a message of a request.
type Message struct {
	Role    llm.Role `json:"role"`
	Content string   `json:"content,omitempty"`
	// Data is the content of a tool's message that is a JSON object or list.
	Data json.RawMessage `json:"data,omitempty"`
	// Parts are images and documents: their kinds, and hashes in place of their bytes.
	Parts []string   `json:"parts,omitempty"`
	Calls []ToolCall `json:"tool_calls,omitempty"`
	// Answers is the call that a tool's message answers, Name the tool.
	Answers string `json:"tool_call_id,omitempty"`
	Name    string `json:"name,omitempty"`
}

// ToolCall is a call in a message. Arguments are JSON, or a string if the model wrote none.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Tool is a tool as a model sees it.
type Tool struct {
	Name string `json:"name"`
	// Original is the name on the server, if it is another one.
	Original    string          `json:"original,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	// Hints are annotations of a server's tool: read_only, destructive, idempotent,
	// open_world.
	Hints  []string        `json:"hints,omitempty"`
	Output json.RawMessage `json:"output_schema,omitempty"`
}

// request returns the kept form of a request.
func (t *Tape) request(model string, req *llm.Request) Request {
	v := varying{ids: map[string]string{}}
	text := func(s string) string { return v.name(t.clean(s)) }
	out := Request{Agent: req.CacheKey, Model: model, ToolChoice: req.ToolChoice, Settings: req.Settings}
	if req.ToolName != "" {
		out.ToolChoice += " " + req.ToolName
	}
	for _, m := range req.Messages {
		kept := Message{Role: m.Role, Content: text(m.Content), Answers: m.ToolCallID, Name: m.Name}
		if m.Role == llm.ToolRole {
			kept.Content = instant.ReplaceAllString(kept.Content, "<time>")
			if structured(kept.Content) {
				kept.Content, kept.Data = "", canonical([]byte(kept.Content))
			}
		}
		for _, p := range m.Parts {
			kept.Parts = append(kept.Parts, text(describe(p)))
		}
		for _, c := range m.ToolCalls {
			kept.Calls = append(kept.Calls, ToolCall{c.ID, c.Name, canonical([]byte(text(c.Arguments)))})
		}
		out.Messages = append(out.Messages, kept)
	}
	for _, s := range req.Tools {
		out.Tools = append(out.Tools, Tool{Name: s.Name, Description: t.clean(s.Description), Parameters: canonical(s.Parameters)})
	}
	slices.SortFunc(out.Tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	if req.Output != nil {
		out.Output = canonical(req.Output.Schema)
	}
	if len(out.Settings.LogitBias) > 0 {
		out.Settings.LogitBias = canonical(out.Settings.LogitBias)
	}
	return out
}

// key returns a text that two requests share if they mean the same.
func (r Request) key() string {
	raw, err := json.Marshal(r)
	if err != nil { // no field can cause it
		return fmt.Sprint(r)
	}
	return string(raw)
}

// describe returns an image or document without its bytes.
func describe(p llm.Part) string {
	what := string(p.Kind)
	if p.URL != "" {
		return what + " " + p.URL
	}
	sum := sha256.Sum256(p.Data)
	return fmt.Sprintf("%s %s %s (%d bytes, sha256 %s)", what, p.MediaType, p.Name, len(p.Data), hex.EncodeToString(sum[:8]))
}

// canonical returns JSON with sorted keys and no spaces. A text that is no JSON becomes a
// JSON string.
func canonical(raw []byte) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		v = string(raw)
	}
	out, err := marshal(v)
	if err != nil {
		return nil
	}
	return out
}

// structured reports whether a text is a JSON object or list.
func structured(s string) bool {
	return s != "" && (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s))
}

// marshal leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

var (
	uuid    = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	instant = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`)
)

// varying replaces the ids of one request, which differ from run to run, by their order.
type varying struct{ ids map[string]string }

func (v varying) name(s string) string {
	return uuid.ReplaceAllStringFunc(s, func(id string) string {
		if v.ids[id] == "" {
			v.ids[id] = fmt.Sprintf("<id %d>", len(v.ids)+1)
		}
		return v.ids[id]
	})
}

// Unnamed replaces ids and times, which differ from run to run, in a text.
func Unnamed(s string) string {
	return instant.ReplaceAllString(varying{ids: map[string]string{}}.name(s), "<time>")
}
