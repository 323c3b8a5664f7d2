package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
)

// itemContent reads a content: a string, or an array of parts. The error begins with the
// place of a wrong part.
func itemContent(raw json.RawMessage, user bool) (string, []llm.Part, error) {
	raw = bytes.TrimSpace(raw)
	var s string
	var list []json.RawMessage
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil, nil
	case json.Unmarshal(raw, &s) == nil:
		return s, nil, nil
	case json.Unmarshal(raw, &list) != nil:
		return "", nil, errors.New(" must be a string or an array of parts")
	}
	texts := make([]string, 0, len(list))
	var parts []llm.Part
	for i, raw := range list {
		text, part, err := itemPart(raw)
		switch {
		case err == nil && part != nil && !user:
			err = errors.New("is an image or a document; only messages of the user may have them")
		case err == nil && part != nil && len(parts) == chat.MaxParts:
			err = fmt.Errorf("is one image or document too many; a message has at most %d", chat.MaxParts)
		}
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("[%d] %w", i, err)
		case part != nil:
			parts = append(parts, *part)
		default:
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n"), parts, nil
}

// itemPart reads one part: a text, or an image or document.
func itemPart(raw json.RawMessage) (string, *llm.Part, error) {
	var p struct {
		Type     string          `json:"type"`
		Text     *string         `json:"text"`
		Refusal  string          `json:"refusal"`
		ImageURL json.RawMessage `json:"image_url"`
		Detail   string          `json:"detail"`
		FileID   string          `json:"file_id"`
		FileURL  string          `json:"file_url"`
		FileData string          `json:"file_data"`
		FileName string          `json:"filename"`
	}
	if json.Unmarshal(raw, &p) != nil || !web.IsObject(raw) {
		return "", nil, errors.New(`is not a part such as {"type":"input_text","text":"hello"}`)
	}
	var url string
	_ = json.Unmarshal(p.ImageURL, &url) // a part without one is refused below
	switch {
	case p.Type == "refusal":
		return p.Refusal, nil, nil
	case p.Type == "input_text", p.Type == "output_text", p.Type == "text", p.Type == "summary_text":
		if p.Text == nil {
			return "", nil, errors.New("has no text")
		}
		return *p.Text, nil, nil
	case p.FileID != "":
		return "", nil, errors.New("names a file_id; no files are kept here, so send the file itself")
	case p.Type == "input_image":
		return partOfImage(&imageURL{URL: url, Detail: p.Detail})
	case p.Type == "input_file" && p.FileData != "":
		return partOfData(p.FileData, fileName(p.FileName))
	case p.Type == "input_file" && p.FileURL != "":
		return "", nil, errors.New("names a file_url, which p8 does not fetch; send the file itself as file_data")
	case p.Type == "input_file":
		return "", nil, errors.New("has no file_data")
	case p.Type == "input_audio":
		return "", nil, errors.New("is audio, which p8 does not hear; send text, images or documents")
	}
	return "", nil, fmt.Errorf("is of type %q; input_text, input_image and input_file can be read", web.Cut(p.Type))
}
