package stream

import (
	"strings"

	"github.com/p8-org/p8/event"
)

// maxSources bounds the sources of a message.
const maxSources = 100

// source sends a source of the answer, unless it was sent: a web address, or a document.
func (e *aisdkEncoder) source(s event.Source) {
	if s.URL == "" && isWeb(s.ID) {
		s.URL = s.ID
		if s.Title == s.ID {
			s.Title = ""
		}
	}
	key := s.ID
	if s.URL != "" {
		key = s.URL
	}
	if key == "" || e.sources[key] || len(e.sources) == maxSources {
		return
	}
	if e.sources == nil {
		e.sources = map[string]bool{}
	}
	e.sources[key] = true
	e.openStep()
	if s.URL != "" {
		e.chunk("source-url")
		e.field("sourceId", s.ID)
		e.field("url", s.URL)
		if s.Title != "" {
			e.field("title", s.Title)
		}
	} else {
		if s.Title == "" {
			s.Title = s.ID
		}
		e.chunk("source-document")
		e.field("sourceId", s.ID)
		e.field("mediaType", "text/plain")
		e.field("title", s.Title)
		if s.Name != "" {
			e.field("filename", s.Name)
		}
	}
	e.end()
}

func isWeb(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}
