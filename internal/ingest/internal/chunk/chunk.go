// Package chunk cuts a text into chunks that fit an embedding model: at headings if
// possible, or between paragraphs, or between sentences. Sizes are in tokens. The chunks
// cover the text without gaps; each has its headings, its lines and its pages.
//
//	cutter, err := chunk.New(chunk.Options{})
//	chunks, err := cutter.Cut(ctx, text)
//
// Package extract finds the [Block]s of a text.
package chunk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/p8-org/p8/internal/tokens"
)

// Kind decides where a block may be cut.
type Kind uint8

// The kinds of blocks.
const (
	// Prose is cut between sentences if it is longer than the target.
	Prose Kind = iota
	// Heading stays with the text after it.
	Heading
	// Verbatim (code, a table's row, data) is cut between lines, and only if it is longer
	// than the maximum.
	Verbatim
)

// Block is a part of a text. Blocks cover a text without gaps.
type Block struct {
	// Start and End are offsets in bytes.
	Start, End int
	Kind       Kind
	// Level and Title open a section; level 1 is the highest, 0 opens no section.
	Level int
	Title string
	// Page counts from 1; 0 is unknown.
	Page int
	// Repeat is put before a chunk that begins with this block: the header of its table. A
	// header that is longer than a chunk is not repeated.
	Repeat string
}

// Text is the text of a file. Its blocks are an iterator, since a file of a few megabytes can
// have millions.
type Text struct {
	Content string
	Blocks  iter.Seq[Block]
}

// Options has sizes in tokens.
type Options struct {
	// Target is the size to which chunks are filled; 0 is 400.
	Target int
	// Overlap is how much of the previous text a chunk repeats; 0 is 50, negative for no
	// overlap.
	// It does not cross a heading, and holds whole sentences if possible.
	Overlap int
	// Max is the maximum size; 0 is 600.
	Max int
	// Most bounds the number of chunks of a text; 0 is 50,000.
	Most int
}

// ErrTooMany is the error of a text with more than Options.Most chunks.
var ErrTooMany = errors.New("too many pieces")

// leastTarget is larger than any character.
const leastTarget = 16

// Chunk is a piece of a text.
type Chunk struct {
	// Content is the text to store: the repeated header, if any, the overlap and the new
	// text, without white space at the end.
	Content string
	// From is the offset of Content in the text, in bytes, Start that of the new text, End
	// its end. The Start of a chunk is the End of the previous one; only white space is
	// before the From of the first.
	From, Start, End int
	// Headings are the titles above all of the new text, the highest first.
	Headings []string
	// Lines and pages count from 1; page 0 is unknown. FirstChar and LastChar are the
	// offsets of From and End in characters.
	FirstLine, LastLine int
	FirstPage, LastPage int
	FirstChar, LastChar int
	// Tokens is the size of Content in tokens.
	Tokens int
}

// Cutter cuts texts. It is safe for concurrent use.
type Cutter struct {
	Options
	tokens.Counter
}

// New makes a Cutter. Sizes that contradict each other are an error.
func New(o Options) (*Cutter, error) {
	if o.Target == 0 {
		o.Target = 400
	}
	if o.Max == 0 {
		o.Max = o.Target * 3 / 2
	}
	if o.Overlap == 0 {
		o.Overlap = min(50, o.Target/4)
	}
	if o.Most == 0 {
		o.Most = 50_000
	}
	o.Overlap = max(o.Overlap, 0)
	if o.Target < leastTarget || o.Max < o.Target || o.Overlap > o.Target/2 {
		return nil, fmt.Errorf("chunks of %d tokens, %d at most, that repeat %d: the target must be %d or more, the maximum no less than it, the overlap at most half of it",
			o.Target, o.Max, o.Overlap, leastTarget)
	}
	return &Cutter{Options: o}, nil
}

// looks is the number of units between two checks of the context.
const looks = 256

// Cut returns the chunks of a text in order, none for a text without a letter. It returns
// ErrTooMany, or the cause of a context that has ended.
func (c *Cutter) Cut(ctx context.Context, t Text) ([]Chunk, error) {
	if strings.TrimSpace(t.Content) == "" {
		return nil, nil
	}
	p := &packer{Cutter: c, text: t.Content}
	n := 0
	add := func(u unit) bool {
		if n++; n%looks == 0 && ctx.Err() != nil || len(p.chunks) > c.Most {
			return false
		}
		p.add(u)
		return true
	}
	for b := range t.Blocks {
		if len(b.Repeat) > longestToken*c.Max {
			b.Repeat = ""
		}
		if !c.units(t.Content, b, add) {
			break
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	p.flush(len(p.units))
	if len(p.chunks) > c.Most {
		return nil, ErrTooMany
	}
	p.locate()
	return p.chunks, nil
}
