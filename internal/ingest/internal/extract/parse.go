package extract

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
)

// Page is the beginning of a page in the text of a document.
type Page struct {
	// Number counts from 1.
	Number int
	// Start is an offset in bytes.
	Start int
}

// Plain is the text of a document, and its pages if it has any.
type Plain struct {
	Text  string
	Pages []Page
}

// Sink takes the text of a document piece by piece. An error of a method ends the parse.
type Sink interface {
	// Page begins a page: the text that follows is on it.
	Page(number int) error
	Write(text string) error
}

// Parse reads a PDF, DOCX or HTML file. On a hostile file it may take unbounded time and
// memory, and it may panic.
func Parse(ctx context.Context, f Format, data []byte, to Sink) error {
	var err error
	switch f {
	case PDF:
		err = pdfText(ctx, data, to)
	case DOCX:
		err = docxText(ctx, data, to)
	case HTML:
		err = htmlText(data, to)
	default:
		return ErrBinary
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%s: %w", strings.ToUpper(string(f)), err)
}

// Blocks returns the blocks of a parsed document.
func (p Plain) Blocks(ctx context.Context, f Format) (chunk.Text, error) {
	if len(p.Pages) == 0 {
		return Outline(ctx, f, p.Text)
	}
	return chunk.Text{Content: p.Text, Blocks: func(yield func(chunk.Block) bool) {
		for i, page := range p.Pages {
			end := len(p.Text)
			if i+1 < len(p.Pages) {
				end = p.Pages[i+1].Start
			}
			for b := range textBlocks(ctx, p.Text, page.Start, end, page.Number) {
				if !yield(b) {
					return
				}
			}
		}
	}}, nil
}

// Collector is a Sink that keeps the text, up to MaxText.
type Collector struct {
	text  strings.Builder
	pages []Page
}

// Page adds the beginning of a page.
func (c *Collector) Page(number int) error {
	c.pages = append(c.pages, Page{number, c.text.Len()})
	return nil
}

// Write appends to the text.
func (c *Collector) Write(s string) error {
	if c.text.Len()+len(s) > MaxText {
		return TooMuchText()
	}
	c.text.WriteString(s)
	return nil
}

// Plain returns the collected text.
func (c *Collector) Plain() Plain { return Plain{c.text.String(), c.pages} }

// patience is how long Guard lets a parser run.
const patience = time.Minute

// Guard runs Parse in a goroutine with a timeout, and recovers its panics. A parser that
// never returns keeps its goroutine and its memory.
func Guard(ctx context.Context, f Format, data []byte) (Plain, error) {
	type result struct {
		text Plain
		err  error
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if recover() != nil {
				r = result{err: Damaged(f)}
			}
			done <- r
		}()
		var c Collector
		if r.err = Parse(limited, f, data, &c); r.err == nil {
			r.text = c.Plain()
		}
	}()
	select {
	case r := <-done:
		if r.err == nil || limited.Err() == nil {
			return r.text, r.err
		}
	case <-limited.Done():
	}
	if ctx.Err() != nil {
		return Plain{}, ctx.Err()
	}
	return Plain{}, fmt.Errorf("%w: reading it as %s took longer than %s", ErrTooLarge, f, patience)
}

// Damaged is the error of a file that made a parser panic.
func Damaged(f Format) error { return fmt.Errorf("a damaged %s file", strings.ToUpper(string(f))) }
