// Package extract reads the text of files: it detects the format, decodes the text, and
// finds its blocks (headings, paragraphs, code, rows) for package chunk.
//
//	format, mime := extract.Detect(name, "", head)
//	s, err := extract.Decode(string(file))         // a text, in whatever encoding
//	text, err := extract.Outline(ctx, format, s)
//
// [Parse] reads PDF, DOCX and HTML. Its libraries cannot be bounded in process: a file of a
// few bytes may loop or unpack to gigabytes. Run Parse in a process that can be killed
// (package child), or in this one with [Guard].
//
// This package bounds all other formats in size, depth and time. Its errors may be shown to
// a client.
package extract

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
)

// MaxText bounds the text of a file, in bytes. A page is one row, and the store bounds a
// row.
const MaxText = 32 << 20

var (
	// ErrBinary is the error of a file in an unknown format.
	ErrBinary = errors.New("not a text, and in no format that can be read")
	// ErrTooLarge is wrapped by the errors of all limits.
	ErrTooLarge = errors.New("the file is too large")
)

// TooMuchText returns the error of a text that is longer than MaxText.
func TooMuchText() error {
	return fmt.Errorf("%w: it holds more than %d MiB of text; split it", ErrTooLarge, MaxText>>20)
}

// Parsed reports whether a format needs Parse rather than Outline.
func (f Format) Parsed() bool { return f == PDF || f == DOCX || f == HTML }

// Outline returns the blocks of a text, which is not longer than MaxText. The blocks end
// when ctx ends.
func Outline(ctx context.Context, f Format, s string) (chunk.Text, error) {
	switch f {
	case Unknown:
		return chunk.Text{}, ErrBinary
	case Markdown, DOCX, HTML:
		return chunk.Text{Content: s, Blocks: MarkdownBlocks(ctx, s, 0)}, nil
	case CSV:
		return csvText(ctx, s)
	case JSON:
		return jsonText(ctx, s)
	case YAML:
		return chunk.Text{Content: s, Blocks: dataBlocks(ctx, s)}, nil
	case Code:
		return chunk.Text{Content: s, Blocks: codeBlocks(ctx, s)}, nil
	}
	return chunk.Text{Content: s, Blocks: textBlocks(ctx, s, 0, len(s), 0)}, nil
}

// Decode returns a text file as UTF-8. It obeys a byte order mark and removes it. Other
// encodings than UTF-8 are an error.
func Decode(s string) (string, error) {
	switch {
	case strings.HasPrefix(s, "\xef\xbb\xbf"):
		s = s[3:]
	case strings.HasPrefix(s, "\xff\xfe"), strings.HasPrefix(s, "\xfe\xff"):
		if len(s) > MaxText { // a character of 2 bytes may become one of 3
			return "", TooMuchText()
		}
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().String(s)
		if err != nil {
			return "", errors.New("not UTF-16, though it begins so")
		}
		s = decoded
	}
	if len(s) > MaxText {
		return "", TooMuchText()
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		return "", fmt.Errorf("binary: byte %d is zero", i)
	}
	if !utf8.ValidString(s) {
		at := 0
		for at < len(s) {
			r, n := utf8.DecodeRuneInString(s[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return "", fmt.Errorf("not UTF-8: byte %d (line %d) belongs to no character; save the file as UTF-8", at, 1+strings.Count(s[:at], "\n"))
	}
	return s, nil
}
