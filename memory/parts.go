package memory

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// PartTokens is the assumed cost of an image or a document; providers count differently.
const PartTokens = 1000

// maxReplayed bounds the images and documents of a history, in bytes of JSON.
const maxReplayed = 32 << 20

// attachment describes a part in the metadata of its row, so that a list of rows need not
// read the parts.
type attachment struct {
	Kind      llm.PartKind `json:"kind"`
	MediaType string       `json:"media_type,omitempty"`
	Name      string       `json:"name,omitempty"`
}

// noted is the part of a row's metadata that this package writes.
type noted struct {
	Attachments []attachment `json:"attachments"`
}

// Attach puts the images and documents of a message into its row.
func Attach(row *store.Message, parts []llm.Part) error {
	if len(parts) == 0 {
		return nil
	}
	var err error
	if row.Parts, err = json.Marshal(parts); err != nil {
		return err
	}
	row.TokenCount += PartTokens * len(parts)
	row.Metadata, err = json.Marshal(noted{attachments(parts)})
	return err
}

func attachments(parts []llm.Part) []attachment {
	list := make([]attachment, len(parts))
	for i, p := range parts {
		list[i] = attachment{p.Kind, p.MediaType, p.Name}
	}
	return list
}

// hasParts reports whether the message of a row had images or documents, whether
// or not they were read.
func hasParts(row *store.Message) bool { return len(noteOf(row)) > 0 }

// noteOf reads the attachments of a row from its metadata.
func noteOf(row *store.Message) []attachment {
	if row.Type != store.MessageUser || !bytes.Contains(row.Metadata, []byte(`"attachments"`)) {
		return nil
	}
	var n noted
	if json.Unmarshal(row.Metadata, &n) != nil {
		return nil // metadata of another program
	}
	return n.Attachments
}

// userMessage returns the user's row: with its parts, or with a line for each.
func userMessage(row *store.Message, text string, whole bool) llm.Message {
	m := llm.Message{Role: llm.User, Content: text}
	var parts []llm.Part
	if len(row.Parts) > 0 && json.Unmarshal(row.Parts, &parts) != nil {
		parts = nil // a row of another program
	}
	if whole && len(parts) > 0 {
		m.Parts = parts
		return m
	}
	list := noteOf(row)
	if list == nil {
		list = attachments(parts)
	}
	for _, a := range list {
		m.Content = strings.TrimPrefix(m.Content+"\n"+a.line(), "\n")
	}
	return m
}

// line returns the text that replaces a part.
func (a attachment) line() string {
	line := "[" + string(a.Kind)
	if a.Name != "" {
		line += ": " + a.Name
	}
	return line + "]"
}
