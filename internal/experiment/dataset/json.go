package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// readJSONL reads a JSON object a line.
func readJSONL(file string, r io.Reader) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for n, line := range lines(r) {
			if strings.TrimSpace(line) == "" {
				continue
			}
			rec, err := object(file, line, n)
			if !yield(rec, err) {
				return
			}
		}
	}
}

// object reads a JSON object that begins at a line of a file.
func object(file, text string, line int) (record, error) {
	rec := record{line: line}
	place := func(offset int) (int, int) {
		offset = min(max(offset, 0), len(text))
		before := text[:offset]
		newline := strings.LastIndexByte(before, '\n')
		return line + strings.Count(before, "\n"), utf8.RuneCountInString(before[newline+1:]) + 1
	}
	problem := func(offset int, message string) (record, error) {
		l, c := place(offset)
		return rec, mistake(file, l, c, message)
	}
	if len(text) > maxCase {
		return problem(0, fmt.Sprintf("the case is longer than %d bytes", maxCase))
	}
	start := strings.IndexFunc(text, func(r rune) bool { return r > ' ' })
	if start < 0 || text[start] != '{' {
		return problem(start, "this is no JSON object")
	}
	d := json.NewDecoder(strings.NewReader(text))
	var whole json.RawMessage
	err := d.Decode(&whole)
	if rest := int(d.InputOffset()); err == nil && strings.TrimSpace(text[rest:]) != "" {
		return problem(skip(text, rest), "something follows the object: write one a line")
	}
	if err != nil {
		err = json.Unmarshal([]byte(text), &whole) // whose offsets count from the beginning
		return problem(offsetOf(err, len(text)), "not valid JSON: "+jsonWords(err))
	}
	d = json.NewDecoder(strings.NewReader(text))
	_, _ = d.Token()
	for d.More() {
		start := skip(text, int(d.InputOffset()))
		t, _ := d.Token()
		var value json.RawMessage
		_ = d.Decode(&value)
		l, c := place(start)
		rec.fields = append(rec.fields, field{fmt.Sprint(t), value, l, c})
	}
	return rec, nil
}

// skip returns the offset of the next key.
func skip(text string, from int) int {
	for from < len(text) && strings.IndexByte(" \t\r\n,", text[from]) >= 0 {
		from++
	}
	return from
}

// offsetOf returns where JSON is wrong.
func offsetOf(err error, otherwise int) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > 0 {
		return int(syntax.Offset) - 1
	}
	return otherwise
}

func jsonWords(err error) string {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(err.Error(), "unexpected end") {
		return "it ends too early"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// maxJSON bounds a file of JSON, which is read as a whole.
const maxJSON = 64 << 20

// readJSON reads a JSON list of objects, or an object with such a list.
func readJSON(file string, r io.Reader) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		text, err := io.ReadAll(io.LimitReader(r, maxJSON+1))
		if err != nil || len(text) > maxJSON {
			yield(record{}, fmt.Errorf("%s cannot be read, or is larger than %d MiB: use JSONL, a case a line", file, maxJSON>>20))
			return
		}
		line := func(offset int) int { return 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n")) }
		d := json.NewDecoder(bytes.NewReader(text))
		t, err := d.Token()
		if err == nil && t == json.Delim('{') {
			for d.More() {
				if t, err = d.Token(); err != nil || slices.Contains(lists, fmt.Sprint(t)) {
					break
				}
				if err = d.Decode(new(json.RawMessage)); err != nil {
					break
				}
			}
			if err == nil {
				t, err = d.Token()
			}
		}
		if err != nil || t != json.Delim('[') {
			yield(record{}, mistake(file, line(int(d.InputOffset())), 1, "this is no JSON list of cases"))
			return
		}
		for d.More() {
			start := skip(string(text[d.InputOffset():min(int(d.InputOffset())+1024, len(text))]), 0) + int(d.InputOffset())
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				yield(record{}, mistake(file, line(offsetOf(err, int(d.InputOffset()))), 1, "not valid JSON: "+jsonWords(err)))
				return
			}
			rec, err := object(file, string(raw), line(start))
			if !yield(rec, err) {
				return
			}
		}
		if _, err := d.Token(); err != nil {
			yield(record{}, mistake(file, line(len(text)), 1, "not valid JSON: the list has no end"))
		}
	}
}

// lists are the keys that a list of cases may have.
var lists = []string{"cases", "examples", "data", "dataset"}
