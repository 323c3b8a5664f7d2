package gemini

import (
	"encoding/base64"
	"net/http"
	"path"
	"strings"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

func appendText(b []byte, text string) []byte {
	b = append(b, `{"text":`...)
	return append(wire.AppendString(b, text), '}')
}

// parts writes images and documents, or a line of text for a part that the model cannot
// read.
func (c *conversation) parts(parts []llm.Part) {
	for i := range parts {
		p := &parts[i]
		media := mediaType(p)
		if !c.reads(p, media) {
			c.text(roleUser, wire.Omitted(p))
			continue
		}
		c.part(roleUser)
		if p.URL == "" {
			c.b = append(c.b, `{"inlineData":{"mimeType":`...)
			c.b = wire.AppendString(c.b, media)
			c.b = append(c.b, `,"data":"`...)
			c.b = base64.StdEncoding.AppendEncode(c.b, p.Data)
			c.b = append(c.b, `"}}`...)
			continue
		}
		c.b = append(c.b, `{"fileData":{`...)
		if media != "" {
			c.b = append(c.b, `"mimeType":`...)
			c.b = append(wire.AppendString(c.b, media), ',')
		}
		c.b = append(c.b, `"fileUri":`...)
		c.b = append(wire.AppendString(c.b, p.URL), `}}`...)
	}
}

// reads reports whether the model reads the media type. The type of a URL may be
// unknown; Google detects it.
func (c *conversation) reads(p *llm.Part, media string) bool {
	switch {
	case media == "" && p.URL == "" || p.Kind == llm.Document && !c.documents:
		return false
	case media == "":
		return true
	case p.Kind == llm.Image:
		switch media {
		case "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif":
			return true
		}
		return false
	}
	return media == "application/pdf" || strings.HasPrefix(media, "text/")
}

// mediaType returns the media type of a part: its own, else that of its bytes or its name.
func mediaType(p *llm.Part) string {
	media := p.MediaType
	if media == "" && len(p.Data) > 0 {
		media = http.DetectContentType(p.Data)
	}
	if media == "" {
		name, _, _ := strings.Cut(p.URL, "?")
		switch strings.ToLower(path.Ext(name)) {
		case ".png":
			media = "image/png"
		case ".jpg", ".jpeg":
			media = "image/jpeg"
		case ".webp":
			media = "image/webp"
		case ".pdf":
			media = "application/pdf"
		}
	}
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	if media == "image/jpg" {
		return "image/jpeg"
	}
	return strings.TrimSpace(media)
}
