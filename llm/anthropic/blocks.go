package anthropic

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// blank reports whether the text is blank: the API refuses such text.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func orEmpty(s string) string {
	if blank(s) {
		return "(empty)"
	}
	return s
}

func appendText(b []byte, s string) []byte {
	b = append(b, `{"type":"text","text":`...)
	return append(wire.AppendString(b, s), '}')
}

// appendPart writes an image or a document, or a line of text for a part that the API
// does not read.
func appendPart(b []byte, p *llm.Part) []byte {
	media, _, _ := strings.Cut(p.MediaType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	isText := strings.HasPrefix(media, "text/") || media == "application/json" || media == "application/yaml" || media == "application/xml"
	switch {
	case p.Kind == llm.Image && p.URL != "":
		b = append(b, `{"type":"image","source":`...)
		return append(appendAddress(b, p.URL), '}')
	case p.Kind == llm.Image && len(p.Data) > 0 && (media == "image/png" || media == "image/jpeg" || media == "image/gif" || media == "image/webp"):
		b = append(b, `{"type":"image","source":`...)
		return append(appendData(b, media, p.Data), '}')
	case p.Kind == llm.Document && p.URL != "" && (media == "" || media == "application/pdf"):
		b = append(b, `{"type":"document","source":`...)
		return append(appendTitle(appendAddress(b, p.URL), p.Name), '}')
	case p.Kind == llm.Document && len(p.Data) > 0 && media == "application/pdf":
		b = append(b, `{"type":"document","source":`...)
		return append(appendTitle(appendData(b, media, p.Data), p.Name), '}')
	case p.Kind == llm.Document && isText && !blank(string(p.Data)):
		b = append(b, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":`...)
		b = append(wire.AppendString(b, string(p.Data)), '}')
		return append(appendTitle(b, p.Name), '}')
	}
	return appendText(b, wire.Omitted(p))
}

func appendAddress(b []byte, url string) []byte {
	b = append(b, `{"type":"url","url":`...)
	return append(wire.AppendString(b, url), '}')
}

func appendData(b []byte, media string, data []byte) []byte {
	b = append(b, `{"type":"base64","media_type":`...)
	b = wire.AppendString(b, media)
	b = append(b, `,"data":"`...)
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, `"}`...)
}

func appendTitle(b []byte, name string) []byte {
	if blank(name) {
		return b
	}
	b = append(b, `,"title":`...)
	return wire.AppendString(b, name)
}

// place returns the position of a block of reasoning in its answer: after so many bytes of
// text and so many calls, by this model. It is the block's ID: the API has no ids, but
// wants blocks back in their order, and only from their own model.
func place(text, calls int, model string) string {
	return strconv.Itoa(text) + "." + strconv.Itoa(calls) + "." + model
}

// placeOf reads a place; a block without one comes first.
func placeOf(r *llm.Reasoning) (text, calls int) {
	parts := strings.SplitN(r.ID, ".", 3)
	if len(parts) < 3 {
		return 0, 0
	}
	text, err := strconv.Atoi(parts[0])
	if err != nil {
		return 0, 0
	}
	calls, err = strconv.Atoi(parts[1])
	if err != nil {
		return 0, 0
	}
	return text, calls
}

// sendable reports whether a block goes back to the model: it is of this protocol, by
// this model if that is known, and has a signature.
func sendable(r *llm.Reasoning, model string) bool {
	if r.Provider != provider || r.Signature == "" {
		return false
	}
	parts := strings.SplitN(r.ID, ".", 3)
	return len(parts) < 3 || parts[2] == model
}

func appendThought(b []byte, r *llm.Reasoning) []byte {
	if r.Redacted {
		b = append(b, `{"type":"redacted_thinking","data":`...)
		return append(wire.AppendString(b, r.Signature), '}')
	}
	b = append(b, `{"type":"thinking","thinking":`...)
	b = wire.AppendString(b, r.Text)
	b = append(b, `,"signature":`...)
	return append(wire.AppendString(b, r.Signature), '}')
}
