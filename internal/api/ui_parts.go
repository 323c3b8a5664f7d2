package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// uiPart is a part of an AI SDK client's message.
type uiPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// File.
	MediaType string `json:"mediaType"`
	URL       string `json:"url"`
	Filename  string `json:"filename"`
	// A tool: "dynamic-tool", or "tool-<name>".
	ToolName   string          `json:"toolName"`
	ToolCallID string          `json:"toolCallId"`
	State      string          `json:"state"`
	Input      json.RawMessage `json:"input"`
	Output     json.RawMessage `json:"output"`
	ErrorText  string          `json:"errorText"`
	// ProviderExecuted marks a call that the server has made itself.
	ProviderExecuted bool `json:"providerExecuted"`
	Approval         *struct {
		ID       string `json:"id"`
		Approved *bool  `json:"approved"`
		Reason   string `json:"reason"`
	} `json:"approval"`
}

// tool is the name of the tool, "" where the part is none.
func (p *uiPart) tool() string {
	if p.Type == "dynamic-tool" {
		return p.ToolName
	}
	name, _ := strings.CutPrefix(p.Type, "tool-")
	if name == p.Type {
		return ""
	}
	return name
}

// ui is the message of an AI SDK client.
func (m *chatMessage) ui(where string) (out said, skip bool, _ *failure) {
	switch m.Role {
	case "user":
		out.role = llm.User
	case "assistant":
		out.role = llm.Assistant
	case "system":
		out.role = llm.System
	default:
		return out, false, invalid("messages", "%s.role is %q; it must be user, assistant or system", where, cut(m.Role))
	}
	var texts []string
	for i := range m.Parts {
		p := &m.Parts[i]
		var err error
		switch {
		case p.Type == "text":
			texts = append(texts, p.Text)
		case out.role == llm.User:
			err = p.addTo(&out, &texts)
		case p.Type == "step-start":
			out.known, out.results = out.all(), nil // those of an earlier step were sent before
		case p.tool() != "":
			p.addCall(&out)
		}
		if err != nil {
			return out, false, invalid("messages", "%s.parts[%s] %s", where, strconv.Itoa(i), err)
		}
	}
	out.text = strings.Join(texts, "\n")
	return out, false, nil
}

// addTo adds what a user sent besides text.
func (p *uiPart) addTo(out *said, texts *[]string) error {
	if strings.HasPrefix(p.Type, "data-") {
		return nil // the application's own
	}
	if p.Type != "file" {
		return fmt.Errorf("is of type %q; text and file can be read", cut(p.Type))
	}
	text, part, err := readFile(p.MediaType, p.URL, p.Filename)
	switch {
	case err != nil:
		return err
	case part == nil:
		*texts = append(*texts, text)
	case len(out.parts) == chat.MaxParts:
		return fmt.Errorf("is one image or document too many; a message has at most %d", chat.MaxParts)
	default:
		out.parts = append(out.parts, *part)
	}
	return nil
}

// readFile reads a file where it stands; an image that is elsewhere is fetched by
// the provider.
func readFile(mediaType, url, name string) (string, *llm.Part, error) {
	switch {
	case url == "":
		return "", nil, errors.New("has no url; send the file as a data URL")
	case isDataURL(url):
		return readData(url, fileName(name))
	case strings.HasPrefix(mediaType, "image/") || mediaType == "":
		return readImage(&imageURL{URL: url})
	}
	return "", nil, fmt.Errorf("is a file of type %q at a URL; only images are fetched, so send it as a data URL", cut(mediaType))
}

// addCall adds a call of a tool and what came of it.
func (p *uiPart) addCall(out *said) {
	call, ok := newCall(p.ToolCallID, p.tool(), string(p.Input))
	if !ok {
		return
	}
	result := chat.ToolResult{CallID: p.ToolCallID}
	switch p.State {
	case "output-available":
		result.Content = plain(p.Output)
	case "output-error":
		result.Content, result.Failed = p.ErrorText, true
	default:
		return
	}
	out.calls = append(out.calls, call)
	if p.ProviderExecuted {
		out.known = append(out.known, result)
	} else {
		out.results = append(out.results, result)
	}
}

// plain is a JSON value as a tool's result: a string is its text.
func plain(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// decisions are those of an AI SDK client: the parts of the last message that
// answer an approval.
func (b *chatBody) decisions() []answer {
	if len(b.Messages) == 0 || b.Messages[len(b.Messages)-1].Role != "assistant" {
		return nil
	}
	var out []answer
	for _, p := range b.Messages[len(b.Messages)-1].Parts {
		if p.State != "approval-responded" || p.Approval == nil || p.Approval.Approved == nil {
			continue
		}
		a := answer{where: "messages", id: p.Approval.ID, comment: p.Approval.Reason, status: store.RequestDeclined}
		if *p.Approval.Approved {
			a.status = store.RequestAccepted
		}
		out = append(out, a)
	}
	return out
}
