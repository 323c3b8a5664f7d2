package chat

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/p8-org/p8/llm"
)

// MaxParts bounds the images and documents of one message.
const MaxParts = 20

// maxURL bounds the address of an image, in bytes.
const maxURL = 8 << 10

// NewPart makes the image or document of a media type. The error lists the media types
// that can be read. A text belongs into the message instead.
func NewPart(mediaType, name string, data []byte) (llm.Part, error) {
	p := llm.Part{Kind: llm.Document, MediaType: mediaType, Name: name, Data: data}
	if strings.HasPrefix(mediaType, "image/") {
		p.Kind = llm.Image
	}
	return p, CheckPart(p)
}

// CheckPart returns why a part cannot be sent to a model, in words for a client; nil if it
// can.
func CheckPart(p llm.Part) error {
	kind := llm.PartKind("")
	switch p.MediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		kind = llm.Image
	case "application/pdf":
		kind = llm.Document
	}
	switch {
	case p.Detail != "" && p.Detail != "low" && p.Detail != "high" && p.Detail != "auto":
		return fmt.Errorf("has the detail %.32q; it is low, high or auto", p.Detail)
	case p.URL != "" && len(p.Data) > 0:
		return fmt.Errorf("has both data and a URL; send one of them")
	case p.URL != "":
		return checkURL(p.URL)
	case kind == "" || kind != p.Kind:
		return fmt.Errorf("is of the media type %.64q; image/png, image/jpeg, image/gif, image/webp, application/pdf and text/* can be read", p.MediaType)
	case len(p.Data) == 0:
		return fmt.Errorf("is empty")
	}
	return nil
}

// checkURL accepts an address that a provider may fetch. p8 itself fetches none.
func checkURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case len(address) > maxURL:
		return fmt.Errorf("has a URL of more than %d KiB", maxURL>>10)
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("has a URL that is neither https, http nor data with base64")
	case u.User != nil:
		return fmt.Errorf("has a URL with a user name or a password in it; leave them out")
	}
	return nil
}
