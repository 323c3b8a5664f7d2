package tool

import (
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// The default bounds of an Assembly.
const (
	defaultMaxText = 1 << 20
	defaultMaxData = 10 << 20
	maxParts       = 20
)

// Assembly builds a result from the texts and files of MCP servers and resources.
// Texts are joined line by line; images and PDF files become parts with a line that
// names them. Other files, such as audio, are for clients, and the model reads only the
// line. Content over the bounds is left out, and the text says so. The zero value is empty
// and ready.
type Assembly struct {
	// MaxText and MaxData bound the result in bytes; the defaults when 0.
	MaxText, MaxData int

	texts  []string
	length int
	data   int
	parts  []llm.Part
	files  []event.File
	cut    bool
}

// Text adds a text.
func (a *Assembly) Text(text string) {
	if text == "" {
		return
	}
	room := or(a.MaxText, defaultMaxText) - a.length
	if len(text) > room {
		a.cut = true
		text = strings.ToValidUTF8(text[:max(room, 0)], "")
	}
	if text != "" {
		a.length += len(text)
		a.texts = append(a.texts, text)
	}
}

// File adds bytes with their media type; name may be empty. Text in bytes
// becomes text.
func (a *Assembly) File(mediaType, name string, data []byte) {
	kind, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		kind = "application/octet-stream"
	}
	if isText(kind) && utf8.Valid(data) {
		a.Text(string(data))
		return
	}
	part := llm.Part{MediaType: kind, Data: data, Name: name}
	what := "file"
	switch {
	case strings.HasPrefix(kind, "image/"):
		part.Kind, what = llm.Image, "image"
	case kind == "application/pdf":
		part.Kind, what = llm.Document, "document"
	case strings.HasPrefix(kind, "audio/"):
		what = "audio"
	}
	line := fmt.Sprintf("[%s %s, %s]", what, kind, size(len(data)))
	if name != "" {
		line = fmt.Sprintf("[%s %s %s, %s]", what, oneLine(name), kind, size(len(data)))
	}
	if part.Kind != "" && len(data) > 0 {
		if a.data+len(data) > or(a.MaxData, defaultMaxData) || len(a.parts) == maxParts {
			line = strings.TrimSuffix(line, "]") + ", too large to show]"
			a.show(event.File{MediaType: kind, Name: name, Size: len(data)})
		} else {
			a.data += len(data)
			a.parts = append(a.parts, part)
		}
	} else if len(data) > 0 {
		a.show(event.File{MediaType: kind, Name: name, Size: len(data), Data: data})
	}
	a.Text(line)
}

// show adds a file for clients, without data that would not fit in the event of a call.
func (a *Assembly) show(f event.File) {
	if len(a.files) == maxParts {
		return // the text names it
	}
	if len(f.Data) > event.MaxFileData {
		f.Data = nil
	}
	a.files = append(a.files, f)
}

// Empty reports whether nothing was added.
func (a *Assembly) Empty() bool { return len(a.texts) == 0 && !a.cut }

// Content returns the text so far.
func (a *Assembly) Content() string {
	content := strings.Join(a.texts, "\n\n")
	if a.cut {
		content += fmt.Sprintf("\n\n[the rest was left out: a result has at most %s of text]", size(or(a.MaxText, defaultMaxText)))
	}
	return content
}

// Result returns the whole result.
func (a *Assembly) Result() Result {
	return Result{Content: a.Content(), Parts: a.parts, Files: a.files}
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "application/xml" || kind == "application/yaml" ||
		strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}

// size formats a number of bytes, such as "12 kB".
func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func oneLine(s string) string { return Cut(strings.Join(strings.Fields(s), " "), 120) }

func or(v, other int) int {
	if v > 0 {
		return v
	}
	return other
}
