package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/p8-org/p8/internal/tree"
	"github.com/p8-org/p8/llm"
)

// Cassette is a recorded conversation.
type Cassette struct {
	// Case names what was recorded, At is when, to the second.
	Case string    `json:"case"`
	At   time.Time `json:"recorded_at"`
	// Model is the default model.
	Model string `json:"default_model,omitempty"`
	// TurnsMS are how long the turns took, in milliseconds.
	TurnsMS   []int64    `json:"turns_ms,omitempty"`
	Models    []Model    `json:"models,omitempty"`
	Exchanges []Exchange `json:"requests"`
	Servers   []Server   `json:"mcp_servers,omitempty"`
	Calls     []Call     `json:"tool_calls,omitempty"`
}

// Model is a model and what it can do.
type Model struct {
	// Asked is the name that was looked up, Name the model's own.
	Asked        string      `json:"asked"`
	Name         string      `json:"name"`
	NativeOutput bool        `json:"native_output,omitempty"`
	Images       bool        `json:"images,omitempty"`
	Documents    bool        `json:"documents,omitempty"`
	Takes        llm.Setting `json:"takes,omitempty"`
}

// Exchange is a request to a model and its answer.
type Exchange struct {
	Request
	Answer []Piece  `json:"answer"`
	Failed *Failure `json:"failed,omitempty"`
}

// Failure is the error that ended an answer.
type Failure struct {
	Kind   llm.ErrorKind `json:"kind,omitempty"`
	Status int           `json:"status,omitempty"`
	Hint   string        `json:"hint,omitempty"`
}

// Server is an MCP server with those of its tools that were offered to a model or called.
type Server struct {
	Name  string `json:"name"`
	Tools []Tool `json:"tools,omitempty"`
	// Down says why the server did not answer, "" if it did.
	Down string `json:"down,omitempty"`
}

// Call is a call of a tool, or the reading of a resource, and its result.
type Call struct {
	// Server is the MCP server, "" for a tool of p8. Tool is its name there, "" if URI was
	// read.
	Server    string          `json:"server,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	URI       string          `json:"uri,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Result is the result, or Error the words of its failure.
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// header is the beginning of a stored cassette.
const header = `# Recorded by p8 test --record. p8 test plays it: the requests are compared with those of
# the agent now, and get these answers. You may edit the answers.
`

// Marshal writes the cassette as YAML. The messages that a request repeats from one before
// it are written once.
func (c *Cassette) Marshal() ([]byte, error) {
	out := *c
	out.Exchanges = shorten(c.Exchanges)
	raw, err := json.Marshal(&out)
	if err != nil {
		return nil, err
	}
	r := tree.Reader{Report: func(_ tree.Position, _, message string) { err = errors.Join(err, errors.New(message)) }}
	root := r.JSON(raw)
	if err != nil {
		return nil, fmt.Errorf("replay: the recording cannot be written: %w", err)
	}
	return root.AppendYAML([]byte(header), 0), nil
}

// Unmarshal reads what Marshal wrote. The error says where the text cannot be read.
func Unmarshal(file string, src []byte) (*Cassette, error) {
	var problems []error
	r := tree.Reader{File: file, Report: func(at tree.Position, hint, message string) {
		problems = append(problems, fmt.Errorf("%s:%d:%d: %s: %s", file, at.Line, at.Column, message, hint))
	}}
	root := r.YAML(src)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	c := new(Cassette)
	if err := json.Unmarshal(root.AppendJSON(nil), c); err != nil {
		return nil, fmt.Errorf("%s: this is no recording of p8 test: record it again with --record", file)
	}
	if err := lengthen(c.Exchanges); err != nil {
		return nil, fmt.Errorf("%s: %w: record it again with --record", file, err)
	}
	return c, nil
}

// shorten replaces the messages and the tools that an exchange shares with an earlier one by
// the number of that one, from 1.
func shorten(all []Exchange) []Exchange {
	out := make([]Exchange, len(all))
	for i, x := range all {
		for j := i - 1; j >= 0; j-- {
			before := all[j]
			n := len(before.Messages)
			if x.Follows == 0 && n > 0 && n <= len(x.Messages) && reflect.DeepEqual(before.Messages, x.Messages[:n]) {
				x.Follows, x.Messages = j+1, x.Messages[n:]
			}
			if x.ToolsOf == 0 && len(x.Tools) > 0 && reflect.DeepEqual(before.Tools, x.Tools) {
				x.ToolsOf, x.Tools = j+1, nil
			}
		}
		out[i] = x
	}
	return out
}

// lengthen undoes shorten.
func lengthen(all []Exchange) error {
	for i := range all {
		x := &all[i]
		if x.Follows < 0 || x.Follows > i || x.ToolsOf < 0 || x.ToolsOf > i {
			return fmt.Errorf("request %d refers to one that does not come before it", i+1)
		}
		if x.Follows > 0 {
			before := all[x.Follows-1].Messages
			x.Messages = append(before[:len(before):len(before)], x.Messages...)
		}
		if x.ToolsOf > 0 {
			x.Tools = all[x.ToolsOf-1].Tools
		}
		x.Follows, x.ToolsOf = 0, 0
	}
	return nil
}
