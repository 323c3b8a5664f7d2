package inbound

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
)

// contentPart is one element of a message's content, in OpenAI's or AG-UI's form.
type contentPart struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text"`
	ImageURL *imageURL `json:"image_url"`
	File     *struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
		ID   string `json:"file_id"`
	} `json:"file"`
	aguiPart
}

// imageURL is an object, or its URL alone.
type imageURL struct{ URL, Detail string }

func (u *imageURL) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &u.URL)
	}
	return json.Unmarshal(b, (*struct{ URL, Detail string })(u))
}

// content returns the text of the message, one line for each text part, and its images
// and documents.
func (m *openAIMessage) content(where string) (string, []llm.Part, *problem.Problem) {
	raw := bytes.TrimSpace(m.Content)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil, nil
	case raw[0] == '"':
		var s string
		_ = json.Unmarshal(raw, &s) // valid JSON that begins with a quote is a string
		return s, nil, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return "", nil, problem.Invalid("messages", "%s.content must be a string or an array of parts", where)
	}
	texts := make([]string, 0, len(list))
	var parts []llm.Part
	for i, raw := range list {
		text, part, err := contentOf(raw)
		if m.Role == "tool" || m.Role == "function" {
			part, err = nil, nil // only the text of a result is read
		}
		switch {
		case err == nil && part != nil && m.Role != "user":
			err = errors.New("is an image or a document; only messages of the user may have them")
		case err == nil && part != nil && len(parts) == chat.MaxParts:
			err = fmt.Errorf("is one image or document too many; a message has at most %d", chat.MaxParts)
		}
		switch {
		case err != nil:
			return "", nil, problem.Invalid("messages", "%s.content[%s] %s", where, strconv.Itoa(i), err)
		case part != nil:
			parts = append(parts, *part)
		default:
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n"), parts, nil
}

// contentOf reads one part: a text, or an image or document. A document of text is
// returned as a text.
func contentOf(raw json.RawMessage) (text string, _ *llm.Part, _ error) {
	var p contentPart
	if json.Unmarshal(raw, &p) != nil {
		return "", nil, errors.New("is not a part such as {\"type\":\"text\",\"text\":\"hello\"}")
	}
	switch {
	case p.Type == "text" && p.Text != nil:
		return *p.Text, nil, nil
	case isAGUI(p.Type):
		return p.aguiPart.read(p.Type)
	case p.Type == "image_url" && p.ImageURL != nil:
		return partOfImage(p.ImageURL)
	case p.Type == "file" && p.File != nil && p.File.Data != "":
		return partOfData(p.File.Data, fileName(p.File.Name))
	case p.Type == "file" && p.File != nil && p.File.ID != "":
		return "", nil, errors.New("names a file_id; no files are kept here, so send the file itself as file_data")
	case p.Type == "text", p.Type == "image_url":
		return "", nil, fmt.Errorf("has no %s", p.Type)
	case p.Type == "file":
		return "", nil, errors.New("has no file.file_data")
	case p.Type == "input_audio":
		return "", nil, errors.New("is audio, which p8 does not hear; send text, images or documents")
	}
	return "", nil, fmt.Errorf("is of type %q; text, image_url and file can be read", web.Cut(p.Type))
}

// partOfImage reads an image from its data URL. An image at another URL is left to the
// provider, which fetches it.
func partOfImage(u *imageURL) (string, *llm.Part, error) {
	if !isDataURL(u.URL) {
		part := llm.Part{Kind: llm.Image, URL: u.URL, Detail: u.Detail}
		if u.URL == "" {
			return "", nil, errors.New("has no image_url.url")
		}
		return "", &part, chat.CheckPart(part)
	}
	text, part, err := partOfData(u.URL, "")
	if part != nil {
		part.Detail = u.Detail
		err = chat.CheckPart(*part)
	}
	return text, part, err
}

func isDataURL(s string) bool { return len(s) >= 5 && strings.EqualFold(s[:5], "data:") }

// partOfData reads a data URL, or base64 alone.
func partOfData(s, name string) (string, *llm.Part, error) {
	mediaType := ""
	if isDataURL(s) {
		head, data, _ := strings.Cut(s[len("data:"):], ",")
		at := len(head) - len(";base64")
		if at < 0 || !strings.EqualFold(head[at:], ";base64") {
			return "", nil, errors.New("has a data URL without base64; it begins as in data:image/png;base64,")
		}
		mediaType, _, _ = mime.ParseMediaType(head[:at])
		s = data
	}
	return partOfBase64(mediaType, s, name)
}

// partOfBase64 reads data of the media type that the client declares.
func partOfBase64(mediaType, s, name string) (string, *llm.Part, error) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(s)
	}
	switch {
	case err != nil:
		return "", nil, errors.New("has data that is not base64")
	case len(data) == 0:
		return "", nil, errors.New("is empty")
	}
	mediaType, err = typeOf(mediaType, data)
	if err != nil {
		return "", nil, err
	}
	if strings.HasPrefix(mediaType, "text/") {
		text, err := document(name, data)
		return text, nil, err
	}
	part, err := chat.NewPart(mediaType, name, data)
	return "", &part, err
}

// typeOf returns the media type of data. For an image it is the type that the data
// have: providers refuse an image that is declared as another type.
func typeOf(declared string, data []byte) (string, error) {
	found, _, _ := strings.Cut(http.DetectContentType(data), ";")
	switch {
	case declared == "" || declared == "application/octet-stream":
		return found, nil
	case !strings.HasPrefix(declared, "image/"):
		return declared, nil
	case !strings.HasPrefix(found, "image/"):
		return "", fmt.Errorf("says %s, and its data are no image that can be read", web.Cut(declared))
	}
	return found, nil
}

// document fences a text file, which becomes part of the message's text.
func document(name string, data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return "", errors.New("is a text that is not in UTF-8")
	}
	if name == "" {
		name = "text"
	}
	return llm.Material("document "+name, strings.TrimRight(string(data), "\r\n")), nil
}

// fileName returns the name of a file without its folders, at most 200 printable
// characters, without brackets.
func fileName(name string) string {
	const most = 200
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '[' || r == ']' {
			return -1
		}
		return r
	}, name[strings.LastIndexAny(name, `/\`)+1:])
	for i, n := 0, 0; i < len(name); n++ {
		if n == most {
			return name[:i]
		}
		_, size := utf8.DecodeRuneInString(name[i:])
		i += size
	}
	return name
}
