package extract

import (
	"context"
	"fmt"
	"strings"

	"github.com/p8-org/p8/internal/ingest/internal/chunk"
)

// maxColumns is the maximum of spreadsheets.
const maxColumns = 16_384

// csvText returns the blocks of a table. Each chunk repeats its first record, the header.
func csvText(ctx context.Context, s string) (chunk.Text, error) {
	comma := separator(s)
	for at, n := 0, 0; at < len(s); n++ {
		end, columns := record(s, at, comma)
		if columns > maxColumns {
			return chunk.Text{}, fmt.Errorf("%w: line %d has more than %d columns; split the table", ErrTooLarge, 1+strings.Count(s[:at], "\n"), maxColumns)
		}
		if n%looks == 0 && ctx.Err() != nil {
			return chunk.Text{}, ctx.Err()
		}
		at = end
	}
	return chunk.Text{Content: s, Blocks: func(yield func(chunk.Block) bool) {
		header := ""
		for at := 0; at < len(s); {
			end, _ := record(s, at, comma)
			if !yield(chunk.Block{Start: at, End: end, Kind: chunk.Verbatim, Repeat: header}) {
				return
			}
			if at == 0 {
				if header = s[:end]; !strings.HasSuffix(header, "\n") {
					header += "\n"
				}
			}
			at = end
		}
	}}, nil
}

// record returns the end of the record at an offset and its number of columns, counted up
// to maxColumns. It parses like encoding/csv with LazyQuotes, which would hold all fields
// of a record of any length. Empty lines belong to the record after them.
func record(s string, at int, comma byte) (end, columns int) {
	for strings.HasPrefix(s[at:], "\n") || strings.HasPrefix(s[at:], "\r\n") {
		at += strings.IndexByte(s[at:], '\n') + 1
	}
	line := -1 // the end of the line at at, -1 if it is unknown
	for at < len(s) {
		if columns++; columns > maxColumns {
			return len(s), columns
		}
		if s[at] == '"' {
			var more bool
			if at, more = quoted(s, at+1, comma); !more {
				break
			}
			line = -1
			continue
		}
		if line < 0 {
			line = len(s)
			if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
				line = at + i + 1
			}
		}
		i := strings.IndexByte(s[at:line], comma)
		if i < 0 {
			return line, columns
		}
		at += i + 1
	}
	return at, columns
}

// quoted returns the end of the quoted field at an offset, and whether another field of the
// record follows.
func quoted(s string, at int, comma byte) (end int, more bool) {
	for {
		i := strings.IndexByte(s[at:], '"')
		if i < 0 {
			return len(s), false
		}
		at += i + 1
		switch rest := s[at:]; {
		case rest == "" || rest == "\r":
			return len(s), false
		case rest[0] == '"':
			at++
		case rest[0] == comma:
			return at + 1, true
		case rest[0] == '\n':
			return at + 1, false
		case strings.HasPrefix(rest, "\r\n"):
			return at + 2, false
		}
		// Any other character continues the quotation.
	}
}

// separator returns the one of , ; tab and | that occurs most often in the first line.
func separator(s string) byte {
	first, _, _ := strings.Cut(s, "\n")
	best, most := byte(','), strings.Count(first, ",")
	for _, c := range []byte(";\t|") {
		if n := strings.Count(first, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}
