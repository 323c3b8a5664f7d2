// Package extract reads the text out of files: which format a file has, what
// is written in it, and of which blocks (headings, paragraphs, code, rows) that
// consists, for package chunk to cut.
//
//	format, mime := extract.Detect(name, "", data)
//	text, err := extract.Extract(ctx, format, data)
//
// Files are hostile until read: every format is bounded in size, depth and
// time, and a library's panic is an error here. The texts of errors are fit for
// a client.
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"p8/ingest/internal/chunk"
)

// Bounds of one file.
const (
	maxText = 32 << 20
	// patience is how long reading a file may take.
	patience = time.Minute
)

// ErrBinary is a file that no format knows.
var ErrBinary = errors.New("not a text, and in no format that can be read")

// Extract is the text of a file and its blocks.
func Extract(ctx context.Context, f Format, data []byte) (chunk.Text, error) {
	switch f {
	case PDF:
		return guard(ctx, "PDF", func(ctx context.Context) (chunk.Text, error) { return pdfText(ctx, data) })
	case DOCX:
		return guard(ctx, "DOCX", func(ctx context.Context) (chunk.Text, error) { return docxText(ctx, data) })
	case HTML:
		return guard(ctx, "HTML", func(context.Context) (chunk.Text, error) { return htmlText(data) })
	case Unknown:
		return chunk.Text{}, ErrBinary
	}
	s, err := Decode(data)
	if err != nil {
		return chunk.Text{}, err
	}
	switch f {
	case Markdown:
		return chunk.Text{Content: s, Blocks: MarkdownBlocks(s, 0)}, nil
	case CSV:
		return csvText(s)
	case JSON:
		return jsonText(s)
	case YAML:
		return chunk.Text{Content: s, Blocks: dataBlocks(s)}, nil
	case Code:
		return chunk.Text{Content: s, Blocks: codeBlocks(s)}, nil
	}
	return chunk.Text{Content: s, Blocks: textBlocks(s, 0)}, nil
}

// Decode is a text file as UTF-8: byte order marks are followed and taken away,
// and what is not UTF-8 then is an error.
func Decode(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		b, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(data)
		if err != nil {
			return "", errors.New("not UTF-16, though it begins so")
		}
		data = b
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", fmt.Errorf("binary: byte %d is zero", i)
	}
	if !utf8.Valid(data) {
		at := 0
		for at < len(data) {
			r, n := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return "", fmt.Errorf("not UTF-8: byte %d (line %d) belongs to no character; save the file as UTF-8", at, 1+bytes.Count(data[:at], []byte("\n")))
	}
	return string(data), nil
}

// guard runs a library on a hostile file: in a goroutine of its own, so that a
// loop does not hold up the rest, and with a net for its panics. A library that
// never returns keeps its goroutine.
func guard(ctx context.Context, what string, read func(context.Context) (chunk.Text, error)) (chunk.Text, error) {
	type result struct {
		text chunk.Text
		err  error
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if recover() != nil {
				r = result{err: fmt.Errorf("a damaged %s file", what)}
			}
			done <- r
		}()
		r.text, r.err = read(limited)
	}()
	select {
	case r := <-done:
		if r.err != nil && limited.Err() == nil {
			r.err = fmt.Errorf("%s: %w", what, r.err)
		}
		if r.err == nil || limited.Err() == nil {
			return r.text, r.err
		}
	case <-limited.Done():
	}
	if ctx.Err() != nil {
		return chunk.Text{}, ctx.Err()
	}
	return chunk.Text{}, fmt.Errorf("reading the %s file took longer than %s", what, patience)
}

// builder writes a text that is put together from parts.
type builder struct {
	strings.Builder
	full bool
}

// put appends a part until the text is too long.
func (b *builder) put(s string) {
	if b.Len()+len(s) > maxText {
		b.full = true
		return
	}
	b.WriteString(s)
}

func (b *builder) err() error {
	if b.full {
		return fmt.Errorf("holds more than %d MiB of text", maxText>>20)
	}
	return nil
}
