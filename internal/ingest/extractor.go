package ingest

import (
	"context"
	"fmt"
	"io"

	"github.com/p8-org/p8/internal/ingest/internal/extract"
)

// Extractor reads the text of formats whose parsers cannot be bounded in process: "pdf",
// "docx" and "html". A file of a few bytes may make them loop or use gigabytes, so
// package child runs them in a process that can be killed.
type Extractor interface {
	// Extract reads size bytes from r. Its errors may be shown to a client. An error that
	// wraps ErrTooLarge names the limit.
	Extract(ctx context.Context, format string, r io.Reader, size int64) (Extracted, error)
}

// Extracted is the text of a file: Markdown for DOCX and HTML, plain text for PDF.
type Extracted struct {
	// Text is UTF-8, at most 32 MiB.
	Text string
	// Pages are in the order of Text; formats without pages have none.
	Pages []Page
}

// Page is the beginning of a page in the text.
type Page struct {
	// Number counts from 1.
	Number int
	// Start is an offset in bytes.
	Start int
}

// InProcess is the default Extractor. It parses in this process, for a minute at most. It
// does not bound memory, and a parser that never returns keeps its goroutine, so it is not
// for untrusted files.
type InProcess struct{}

// Extract implements Extractor.
func (InProcess) Extract(ctx context.Context, format string, r io.Reader, size int64) (Extracted, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return Extracted{}, fmt.Errorf("read the file: %w", err)
	}
	plain, err := extract.Guard(ctx, extract.Format(format), data)
	if err != nil {
		return Extracted{}, err
	}
	x := Extracted{Text: plain.Text}
	for _, p := range plain.Pages {
		x.Pages = append(x.Pages, Page(p))
	}
	return x, nil
}

// check validates the result of an Extractor, which may be another process under the
// control of the file.
func (x *Extracted) check() (extract.Plain, error) {
	plain := extract.Plain{Text: x.Text}
	if len(x.Text) > extract.MaxText {
		return plain, fmt.Errorf("%w: it holds more than %d MiB of text; split it", ErrTooLarge, extract.MaxText>>20)
	}
	last := 0
	for i, p := range x.Pages {
		if p.Start < last || p.Start > len(x.Text) || i == 0 && p.Start > 0 {
			return plain, fmt.Errorf("%w: its pages are out of order", ErrUnreadable)
		}
		last = p.Start
		plain.Pages = append(plain.Pages, extract.Page(p))
	}
	return plain, nil
}
