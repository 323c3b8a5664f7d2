// Package chunk cuts a text into pieces that fit an embedding model: at
// headings first, then between paragraphs, then between sentences, counted in
// tokens. Pieces follow one another without a gap; each knows its headings, its
// lines and its pages.
//
//	cutter, err := chunk.New(chunk.Options{})
//	chunks, err := cutter.Cut(ctx, text)
//
// What a text is made of is said by its [Block]s, which package extract finds.
package chunk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Kind says where a block may be cut.
type Kind uint8

// The kinds of blocks.
const (
	// Prose is cut between sentences when it is longer than the target.
	Prose Kind = iota
	// Heading stays with what follows it.
	Heading
	// Verbatim (code, a table's row, data) is cut between lines, and only when it
	// is longer than the maximum.
	Verbatim
)

// Block is a part of a text; the blocks of a text follow one another without a
// gap.
type Block struct {
	// Start and End are offsets in bytes.
	Start, End int
	Kind       Kind
	// Level and Title open a section; 0 is none, 1 the highest.
	Level int
	Title string
	// Page counts from 1; 0 is unknown.
	Page int
	// Repeat is written before a chunk that begins with this block: the header of
	// its table. A header that is longer than a chunk is not repeated.
	Repeat string
}

// Text is what was read out of a file. Its blocks are found while they are read:
// a file of a few megabytes can have millions.
type Text struct {
	Content string
	Blocks  iter.Seq[Block]
}

// Options are sizes in tokens of cl100k_base, the vocabulary of the embedding
// models that are most used.
type Options struct {
	// Target is the size that chunks are filled to, 0 for 400.
	Target int
	// Overlap is how much of the text before is repeated, 0 for 50, negative for
	// none. It ends at a heading, and holds whole sentences where it can.
	Overlap int
	// Max is never exceeded, 0 for 600.
	Max int
	// Most bounds the chunks of a text, 0 for 50,000.
	Most int
}

// ErrTooMany is a text that would become more than Options.Most chunks.
var ErrTooMany = errors.New("too many pieces")

// leastTarget keeps every character smaller than a chunk.
const leastTarget = 16

// Chunk is a piece of a text.
type Chunk struct {
	// Content is what to store: the repeated header if there is one, the overlap
	// and the piece, without white space at the end.
	Content string
	// From is where Content begins in the text, Start the piece that is new in it,
	// End where it ends, in bytes. The Start of a chunk is the End of the one
	// before; only white space lies before the From of the first.
	From, Start, End int
	// Headings are the titles above the whole piece, the highest first.
	Headings []string
	// FirstLine and LastLine count from 1, FirstPage and LastPage too (0 is
	// unknown); FirstChar and LastChar are offsets of From and End in characters.
	FirstLine, LastLine int
	FirstPage, LastPage int
	FirstChar, LastChar int
	// Tokens is the size of Content.
	Tokens int
}

// Cutter cuts texts. It is safe for concurrent use.
type Cutter struct {
	Options
	codec    *codec.Codec
	counters *sync.Pool
}

// New is a cutter; sizes that do not fit each other are an error.
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
	cl100k := codec.NewCl100kBase()
	return &Cutter{Options: o, codec: cl100k, counters: newCounters(cl100k)}, nil
}

// Count is the size of a text in tokens.
func (c *Cutter) Count(s string) int {
	k := c.counters.Get().(*counter)
	defer c.counters.Put(k)
	return k.count(s)
}

// looks is how many units are cut between two looks at the context.
const looks = 256

// Cut returns the chunks of a text in order; none for one without a letter. It
// fails with ErrTooMany, or with the cause of a context that ended.
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
