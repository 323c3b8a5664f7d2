package inbound

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// aiSDKPart is a part of an AI SDK client's message.
type aiSDKPart struct {
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
	// ProviderExecuted marks a call that the server made itself.
	ProviderExecuted bool `json:"providerExecuted"`
	Approval         *struct {
		ID       string `json:"id"`
		Approved *bool  `json:"approved"`
		Reason   string `json:"reason"`
	} `json:"approval"`
}

// tool returns the name of the tool, "" for a part that is no tool call.
func (p *aiSDKPart) tool() string {
	if p.Type == "dynamic-tool" {
		return p.ToolName
	}
	name, _ := strings.CutPrefix(p.Type, "tool-")
	if name == p.Type {
		return ""
	}
	return name
}

// readUI reads the message of an AI SDK client.
func (m *talkMessage) readUI(where string) (out message, skip bool, _ *problem.Problem) {
	switch m.Role {
	case "user":
		out.role = llm.User
	case "assistant":
		out.role = llm.Assistant
	case "system":
		out.role = llm.System
	default:
		return out, false, problem.Invalid("messages", "%s.role is %q; it must be user, assistant or system", where, web.Cut(m.Role))
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
			out.serverResults, out.results = out.allResults(), nil // the client sent those of an earlier step before
		case p.tool() != "":
			p.addCall(&out)
		}
		if err != nil {
			return out, false, problem.Invalid("messages", "%s.parts[%s] %s", where, strconv.Itoa(i), err)
		}
	}
	out.text = strings.Join(texts, "\n")
	return out, false, nil
}

// addTo adds a file of the user to the message.
func (p *aiSDKPart) addTo(out *message, texts *[]string) error {
	if strings.HasPrefix(p.Type, "data-") {
		return nil // the application's own
	}
	if p.Type != "file" {
		return fmt.Errorf("is of type %q; text and file can be read", web.Cut(p.Type))
	}
	text, part, err := partOfFile(p.MediaType, p.URL, p.Filename)
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

// partOfFile reads a file from its data URL. An image at another URL is left to the
// provider, which fetches it.
func partOfFile(mediaType, url, name string) (string, *llm.Part, error) {
	switch {
	case url == "":
		return "", nil, errors.New("has no url; send the file as a data URL")
	case isDataURL(url):
		return partOfData(url, fileName(name))
	case strings.HasPrefix(mediaType, "image/") || mediaType == "":
		return partOfImage(&imageURL{URL: url})
	}
	return "", nil, fmt.Errorf("is a file of type %q at a URL; only images are fetched, so send it as a data URL", web.Cut(mediaType))
}

// addCall adds a tool call with its result; a call without a result is left out.
func (p *aiSDKPart) addCall(out *message) {
	call, ok := newCall(p.ToolCallID, p.tool(), string(p.Input))
	if !ok {
		return
	}
	result := chat.ToolResult{ToolCallID: p.ToolCallID}
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
		out.serverResults = append(out.serverResults, result)
	} else {
		out.results = append(out.results, result)
	}
}

// plain returns a JSON value as a tool's result: of a string its text.
func plain(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// KnowsApprovals reports whether a message of an AI SDK client shows that it knows approvals,
// which version 5 does not.
func (b *Talk) KnowsApprovals() bool {
	for i := range b.Messages {
		for j := range b.Messages[i].Parts {
			if b.Messages[i].Parts[j].Approval != nil {
				return true
			}
		}
	}
	return false
}

// approvals returns the answers of an AI SDK client: the parts of the last message that
// answer an approval.
func (b *Talk) approvals() []Answer {
	if len(b.Messages) == 0 || b.Messages[len(b.Messages)-1].Role != "assistant" {
		return nil
	}
	var out []Answer
	for _, p := range b.Messages[len(b.Messages)-1].Parts {
		if p.State != "approval-responded" || p.Approval == nil || p.Approval.Approved == nil {
			continue
		}
		a := Answer{where: "messages", RequestID: p.Approval.ID, comment: p.Approval.Reason, status: store.RequestDeclined}
		if *p.Approval.Approved {
			a.status = store.RequestAccepted
		}
		out = append(out, a)
	}
	return out
}
