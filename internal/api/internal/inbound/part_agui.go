package inbound

import (
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
)

// aguiPart is an image or document of AG-UI. Before AG-UI 1.0 the fields of the source
// stood in the part itself.
type aguiPart struct {
	Source *struct {
		Type     string `json:"type"`
		Value    string `json:"value"`
		MIMEType string `json:"mimeType"`
	} `json:"source"`
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
	URL      string `json:"url"`
	Filename string `json:"filename"`
}

// isAGUI reports whether only AG-UI has parts of the type.
func isAGUI(kind string) bool {
	switch kind {
	case "image", "document", "binary", "audio", "video":
		return true
	}
	return false
}

// read returns the image or document, or the text of a document of text.
func (p *aguiPart) read(kind string) (string, *llm.Part, error) {
	mediaType, data, url := p.MIMEType, p.Data, p.URL
	if s := p.Source; s != nil {
		mediaType = s.MIMEType
		switch s.Type {
		case "data":
			data = s.Value
		case "url":
			url = s.Value
		default:
			return "", nil, fmt.Errorf("has a source of type %q; no files are kept here, so send data or url", web.Cut(s.Type))
		}
	}
	switch {
	case kind == "audio" || kind == "video" || strings.HasPrefix(mediaType, "audio/") || strings.HasPrefix(mediaType, "video/"):
		return "", nil, errors.New("is audio or video, which p8 does not hear or see; send text, images or documents")
	case data != "":
		return partOfBase64(mediaType, data, fileName(p.Filename))
	case url != "" && kind == "image" && mediaType == "":
		mediaType = "image/*"
	case url != "" && mediaType == "":
		mediaType = "application/octet-stream"
	case url == "":
		return "", nil, errors.New(`has no source, such as {"type":"data","value":"<base64>","mimeType":"image/png"}`)
	}
	return partOfFile(mediaType, url, p.Filename)
}
