package dataset

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// readCSV reads rows below a line with the names of the columns.
func readCSV(file string, r io.Reader) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		if start, _ := in.Peek(3); string(start) == "\ufeff" {
			_, _ = in.Discard(3)
		}
		rows := csv.NewReader(in)
		var header []string
		for {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			var bad *csv.ParseError
			switch {
			case errors.As(err, &bad) && errors.Is(err, csv.ErrFieldCount):
				if !yield(record{}, mistake(file, bad.Line, 1, fmt.Sprintf("the row has %d columns, not %d as the first line", len(row), len(header)))) {
					return
				}
				continue
			case errors.As(err, &bad):
				yield(record{}, mistake(file, bad.Line, bad.Column, "not valid CSV: "+bad.Err.Error()))
				return
			case err != nil:
				yield(record{}, fmt.Errorf("%s cannot be read", file))
				return
			}
			line, _ := rows.FieldPos(0)
			if header == nil {
				if header = row; !slices.ContainsFunc(row, func(name string) bool { return names[strings.ToLower(strings.TrimSpace(name))] == "input" }) {
					yield(record{}, mistake(file, line, 1, "no column is named input (or text, question): the first line has the names"))
					return
				}
				continue
			}
			rec := record{line: line}
			size := 0
			for i, cell := range row {
				l, c := rows.FieldPos(i)
				if size += len(cell); size > maxCase {
					yield(record{}, mistake(file, l, c, fmt.Sprintf("the case is longer than %d bytes", maxCase)))
					return
				}
				name := strings.TrimSpace(header[i])
				if cell != "" && name != "" {
					rec.fields = append(rec.fields, field{name, cellValue(name, cell), l, c})
				}
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// cellValue returns the value of a cell: JSON where it is an object or a list, or the metadata,
// else a text.
func cellValue(name, cell string) json.RawMessage {
	trimmed := strings.TrimSpace(cell)
	what := names[strings.ToLower(name)]
	if (what == "metadata" || what == "expected") && strings.ContainsAny(trimmed[:min(1, len(trimmed))], "{[") && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	text, _ := json.Marshal(strings.ToValidUTF8(cell, "\ufffd"))
	return text
}
