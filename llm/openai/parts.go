package openai

import (
	"encoding/base64"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// appendParts writes a content of several parts.
func (m *Model) appendParts(b []byte, text string, parts []llm.Part, without option) []byte {
	b = append(b, '[')
	if text != "" {
		b = append(b, `{"type":"text","text":`...)
		b = append(wire.AppendString(b, text), '}')
	}
	for i := range parts {
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = m.appendPart(b, &parts[i], without)
	}
	return append(b, ']')
}

// appendPart writes an image or a file, or a line of text for a part that the model
// cannot read.
func (m *Model) appendPart(b []byte, p *llm.Part, without option) []byte {
	switch {
	case !m.reads(p, without):
		b = append(b, `{"type":"text","text":`...)
		return append(wire.AppendString(b, wire.Omitted(p)), '}')
	case p.Kind == llm.Image:
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = appendSource(b, p)
		if p.Detail != "" {
			b = append(b, `,"detail":`...)
			b = wire.AppendString(b, p.Detail)
		}
		return append(b, `}}`...)
	}
	b = append(b, `{"type":"file","file":{"filename":`...)
	b = wire.AppendString(b, fileName(p))
	b = append(b, `,"file_data":`...)
	b = appendSource(b, p)
	return append(b, `}}`...)
}

// reads reports whether the model reads a part. One image of another type would make
// the provider refuse the whole conversation. Only the Responses API fetches documents.
func (m *Model) reads(p *llm.Part, without option) bool {
	switch media := p.MediaType; {
	case p.Kind == llm.Document:
		return m.dialect.files && (p.URL != "" && m.dialect.responses || p.URL == "" && media == "application/pdf" && len(p.Data) > 0)
	case p.Kind != llm.Image || !m.dialect.images || without&optImages != 0:
		return false
	case p.URL == "":
		return len(p.Data) > 0 && (media == "image/png" || media == "image/jpeg" || media == "image/gif" || media == "image/webp")
	}
	return true
}

// appendSource writes the URL, or the bytes.
func appendSource(b []byte, p *llm.Part) []byte {
	if p.URL != "" {
		return wire.AppendString(b, p.URL)
	}
	b = append(b, `"data:`...)
	quoted := wire.AppendString(nil, p.MediaType)
	b = append(b, quoted[1:len(quoted)-1]...)
	b = append(b, `;base64,`...)
	b = base64.StdEncoding.AppendEncode(b, p.Data)
	return append(b, '"')
}

func fileName(p *llm.Part) string {
	if p.Name != "" {
		return p.Name
	}
	return "document.pdf"
}

// appendResultParts writes the parts of tool results as a user's message after the
// last of them, because a tool's message holds only text.
func (m *Model) appendResultParts(b []byte, messages []llm.Message, i int, without option) []byte {
	if messages[i].Role != llm.ToolRole || i+1 < len(messages) && messages[i+1].Role == llm.ToolRole {
		return b
	}
	first := i
	for first > 0 && messages[first-1].Role == llm.ToolRole {
		first--
	}
	var parts []llm.Part
	for _, msg := range messages[first : i+1] {
		parts = append(parts, msg.Parts...)
	}
	if len(parts) == 0 {
		return b
	}
	b = append(b, `,{"role":"user","content":`...)
	b = m.appendParts(b, "These belong to the results of the tools above.", parts, without)
	return append(b, '}')
}
