package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ledongthuc/pdf"
)

// Bounds of a PDF's page tree.
const (
	maxPages     = 10_000
	maxPageNodes = 4 * maxPages
	maxPageDepth = 64
)

// pdfText reads a PDF page by page. Pages that are pictures have no text.
func pdfText(ctx context.Context, data []byte, to Sink) error {
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if errors.Is(err, pdf.ErrInvalidPassword) {
			return errors.New("encrypted: save it without a password")
		}
		return errors.New("damaged: it cannot be opened")
	}
	if pages := r.NumPage(); pages < 1 || pages > maxPages {
		return fmt.Errorf("says that it has %d pages; 1-%d are read", pages, maxPages)
	}
	t := &pageTree{}
	if err := t.walk(r.Trailer().Key("Root").Key("Pages"), 0); err != nil {
		return err
	}
	empty := true
	fonts := map[string]*pdf.Font{}
	for i, page := range t.pages {
		if err := ctx.Err(); err != nil {
			return err
		}
		clear(fonts) // their names are valid on one page
		for _, name := range page.Fonts() {
			f := page.Font(name)
			fonts[name] = &f
		}
		text, err := page.GetPlainText(fonts)
		if err != nil {
			return fmt.Errorf("page %d is damaged", i+1)
		}
		text = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"))
		if text == "" {
			continue
		}
		empty = false
		if err := to.Page(i + 1); err != nil {
			return err
		}
		if err := to.Write(text + "\n\n"); err != nil {
			return err
		}
	}
	if empty {
		return errors.New("holds no text: its pages may be pictures")
	}
	return nil
}

// pageTree collects the pages in one walk. The library walks from the root for each page,
// and never returns from a tree with a cycle.
type pageTree struct {
	pages []pdf.Page
	nodes int
}

func (t *pageTree) walk(node pdf.Value, depth int) error {
	if t.nodes++; t.nodes > maxPageNodes || depth > maxPageDepth || len(t.pages) > maxPages {
		return fmt.Errorf("damaged: its pages are nested in a loop, or there are more than %d", maxPages)
	}
	if node.Key("Type").Name() == "Page" {
		t.pages = append(t.pages, pdf.Page{V: node})
		return nil
	}
	kids := node.Key("Kids")
	for i := range kids.Len() {
		if err := t.walk(kids.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}
