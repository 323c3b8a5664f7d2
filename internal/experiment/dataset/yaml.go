package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/ingest"
)

// readYAML reads a list of mappings, or a mapping with such a list. Each element is parsed on
// its own, so that neither time nor memory grows with the file.
func readYAML(file string, r io.Reader) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		var item strings.Builder
		begin, indent := 0, -1
		flush := func() bool {
			if begin == 0 {
				return true
			}
			rec, err := mapping(file, item.String(), begin)
			item.Reset()
			return yield(rec, err)
		}
		for n, line := range lines(r) {
			trimmed := strings.TrimSpace(line)
			blanks := len(line) - len(strings.TrimLeft(line, " "))
			dash := trimmed == "-" || strings.HasPrefix(trimmed, "- ")
			switch {
			case dash && (indent < 0 || blanks == indent):
				if !flush() {
					return
				}
				begin, indent = n, blanks
				line = strings.Replace(line, "-", " ", 1)
			case indent >= 0 && (trimmed == "" || strings.HasPrefix(trimmed, "#") || blanks > indent):
			case indent < 0 && (trimmed == "" || trimmed == "---" || strings.HasPrefix(trimmed, "#") || slices.Contains(lists, strings.TrimSuffix(trimmed, ":"))):
				continue
			default:
				yield(record{}, mistake(file, n, blanks+1, "a dataset is a list of cases: begin each with \"- input:\""))
				return
			}
			if item.WriteString(line); item.Len() > maxCase {
				yield(record{}, mistake(file, begin, 1, fmt.Sprintf("the case is longer than %d bytes", maxCase)))
				return
			}
		}
		flush()
	}
}

// mapping reads the YAML mapping of a case.
func mapping(file, text string, line int) (record, error) {
	rec := record{line: line}
	fields, err := ingest.Fields(file, text, line)
	if err != nil {
		return rec, err
	}
	for _, f := range fields {
		rec.fields = append(rec.fields, field{f.Key, f.Value, f.Line, f.Column})
	}
	return rec, nil
}

// lines reads the lines of a file with their numbers; a longer one than a case ends it.
func lines(r io.Reader) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var long []byte
		for n := 1; ; n++ {
			long = long[:0]
			var err error
			for err == nil && len(long) <= 2*maxCase {
				var piece []byte
				piece, err = in.ReadSlice('\n')
				long = append(long, piece...)
				if errors.Is(err, bufio.ErrBufferFull) {
					err = nil
				} else if err == nil {
					break
				}
			}
			if len(long) > 0 && !yield(n, strings.TrimPrefix(string(long), "\ufeff")) || err != nil {
				return
			}
		}
	}
}
