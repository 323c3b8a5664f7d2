package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ledongthuc/pdf"

	"p8/ingest/internal/chunk"
)

const maxPages = 10_000

// pdfText is the text of a PDF, page after page. Pages that are pictures have
// none.
func pdfText(ctx context.Context, data []byte) (chunk.Text, error) {
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if errors.Is(err, pdf.ErrInvalidPassword) {
			return chunk.Text{}, errors.New("encrypted: save it without a password")
		}
		return chunk.Text{}, errors.New("damaged: it cannot be opened")
	}
	pages := r.NumPage()
	if pages < 1 || pages > maxPages {
		return chunk.Text{}, fmt.Errorf("says that it has %d pages; 1-%d are read", pages, maxPages)
	}
	var b builder
	var t chunk.Text
	fonts := map[string]*pdf.Font{}
	for n := 1; n <= pages; n++ {
		if err := ctx.Err(); err != nil {
			return chunk.Text{}, err
		}
		page := r.Page(n)
		if page.V.IsNull() {
			continue
		}
		clear(fonts) // their names hold for a page
		for _, name := range page.Fonts() {
			f := page.Font(name)
			fonts[name] = &f
		}
		text, err := page.GetPlainText(fonts)
		if err != nil {
			return chunk.Text{}, fmt.Errorf("page %d is damaged", n)
		}
		text = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"))
		if text == "" {
			continue
		}
		start := b.Len()
		b.put(text + "\n\n")
		if b.full {
			break
		}
		for _, block := range textBlocks(text+"\n\n", n) {
			block.Start, block.End = block.Start+start, block.End+start
			t.Blocks = append(t.Blocks, block)
		}
	}
	t.Content = b.String()
	if t.Content == "" {
		return chunk.Text{}, errors.New("holds no text: its pages may be pictures")
	}
	return t, b.err()
}
