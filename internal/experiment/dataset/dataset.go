// Package dataset reads and writes the cases of an evaluation: YAML, JSON, JSONL and CSV files
// with REM's names of columns.
package dataset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"

	"github.com/p8-org/p8/internal/ingest"
)

// The bounds of a dataset.
const (
	// MaxCases bounds the cases of a dataset.
	MaxCases = 100_000
	// maxCase bounds the text of one case, in bytes.
	maxCase = 1 << 20
	// maxProblems bounds the mistakes that Load reports.
	maxProblems = 20
)

// Case is one case of a dataset.
type Case struct {
	// ID is the case's own, else its number, from 1.
	ID    string `json:"id"`
	Input string `json:"input"`
	// Expected is the reference, a text or any other JSON value; nil without one.
	Expected json.RawMessage `json:"expected,omitempty"`
	Metadata map[string]any  `json:"metadata,omitempty"`
	// Line is where the case begins in its file.
	Line int `json:"line,omitempty"`
}

// Problem is a mistake in a dataset.
type Problem = ingest.Problem

func mistake(file string, line, column int, message string) error {
	return &Problem{File: file, Line: line, Column: column, Message: message}
}

// Read reads the cases of a file one by one; its name says the format. A case with a mistake is
// an error of the sequence, a [*Problem]; the cases after it follow unless the file cannot be
// read further.
func Read(name string, r io.Reader) iter.Seq2[Case, error] {
	var records iter.Seq2[record, error]
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".yaml", ".yml":
		records = readYAML(name, r)
	case ".jsonl", ".ndjson":
		records = readJSONL(name, r)
	case ".json":
		records = readJSON(name, r)
	case ".csv":
		records = readCSV(name, r)
	default:
		return func(yield func(Case, error) bool) {
			yield(Case{}, fmt.Errorf("%s is no dataset: give a .yaml, .jsonl, .json or .csv file", name))
		}
	}
	return func(yield func(Case, error) bool) {
		seen, n := map[string]int{}, 0
		for rec, err := range records {
			if n++; n > MaxCases && err == nil {
				yield(Case{}, mistake(name, rec.line, 1, fmt.Sprintf("more than %d cases: split the dataset", MaxCases)))
				return
			}
			var c Case
			if err == nil {
				c, err = rec.read(name)
			}
			if err == nil {
				c.ID = cmp.Or(c.ID, fmt.Sprint(n))
				if before, twice := seen[c.ID]; twice {
					err = mistake(name, rec.line, 1, fmt.Sprintf("the id %q belongs to the case at line %d: give each case its own", c.ID, before))
				}
				seen[c.ID] = rec.line
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Load reads all cases of a file. The error has the first mistakes, one line each; a dataset
// without a case is a mistake.
func Load(name string, r io.Reader) ([]Case, error) {
	var cases []Case
	var problems []error
	for c, err := range Read(name, r) {
		if err != nil {
			if problems = append(problems, err); len(problems) == maxProblems {
				problems = append(problems, errors.New("…and maybe more"))
				break
			}
			continue
		}
		cases = append(cases, c)
	}
	if len(problems) == 0 && len(cases) == 0 {
		problems = append(problems, fmt.Errorf("%s has no cases", name))
	}
	return cases, errors.Join(problems...)
}

// record is a case as it stands in its file.
type record struct {
	line   int
	fields []field
}

type field struct {
	key          string
	value        json.RawMessage
	line, column int
}

// names are the columns of a case; REM has several names for one.
var names = map[string]string{
	"id": "id", "case_id": "id",
	"input": "input", "text": "input", "question": "input", "query": "input",
	"expected": "expected", "reference": "expected", "expected_output": "expected", "ground_truth": "expected",
	"metadata": "metadata",
}

// read makes a case of a record. Columns without a name of their own belong to the metadata.
func (r *record) read(file string) (Case, error) {
	c := Case{Line: r.line}
	given := map[string]string{}
	for _, f := range r.fields {
		what := names[strings.ToLower(f.key)]
		problem := func(format string, args ...any) error {
			return mistake(file, f.line, f.column, fmt.Sprintf(format, args...))
		}
		if what != "" && what != "metadata" {
			if other := given[what]; other != "" {
				return c, problem("%s and %s mean the same: keep one", f.key, other)
			}
			given[what] = f.key
		}
		var err error
		switch what {
		case "input":
			c.Input, err = inputText(f.value)
		case "expected":
			if string(f.value) != "null" {
				c.Expected = f.value
			}
		case "id":
			if c.ID, err = plain(f.value); err == nil && len(c.ID) > 200 {
				err = errors.New("is longer than 200 bytes")
			}
		case "metadata":
			var m map[string]any
			if json.Unmarshal(f.value, &m) != nil {
				err = errors.New("is no mapping: write keys with values")
			}
			for k, v := range m {
				c.set(k, v)
			}
		default:
			var v any
			_ = json.Unmarshal(f.value, &v)
			c.set(f.key, v)
		}
		if err != nil {
			return c, problem("%s %v", f.key, err)
		}
	}
	if strings.TrimSpace(c.Input) == "" {
		return c, mistake(file, r.line, 1, "the case has no input: give it the key input (or text, question)")
	}
	return c, nil
}

func (c *Case) set(key string, value any) {
	if value == nil {
		return
	}
	if c.Metadata == nil {
		c.Metadata = map[string]any{}
	}
	c.Metadata[key] = value
}

// inputText returns the question of a value: a text, or what REM wraps into {"input": …} or
// {"text": …}.
func inputText(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var wrapped struct {
		Input *string `json:"input"`
		Text  *string `json:"text"`
	}
	if bytes.HasPrefix(raw, []byte("{")) && json.Unmarshal(raw, &wrapped) == nil && cmp.Or(wrapped.Input, wrapped.Text) != nil {
		return *cmp.Or(wrapped.Input, wrapped.Text), nil
	}
	return "", errors.New("is no text")
}

// plain returns a text or a number as a text.
func plain(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String(), nil
	}
	return "", errors.New("is no text and no number")
}
