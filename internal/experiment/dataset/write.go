package dataset

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/goccy/go-yaml"
)

// row is a case as Write writes it.
type row struct {
	ID       string         `json:"id,omitempty"`
	Input    string         `json:"input"`
	Expected any            `json:"expected,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Write writes cases in the format that a name says.
func Write(name string, w io.Writer, cases []Case) error {
	rows := make([]row, len(cases))
	for i, c := range cases {
		rows[i] = row{c.ID, c.Input, nil, c.Metadata}
		if len(c.Expected) > 0 {
			if err := json.Unmarshal(c.Expected, &rows[i].Expected); err != nil {
				return err
			}
		}
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		text, err := yaml.MarshalWithOptions(rows, yaml.UseLiteralStyleIfMultiline(true), yaml.UseJSONMarshaler())
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	case ".jsonl", ".ndjson":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, r := range rows {
			if err := e.Encode(r); err != nil {
				return err
			}
		}
		return nil
	case ".csv":
		return writeCSV(w, rows)
	}
	return fmt.Errorf("%s is no dataset: give a .yaml, .jsonl or .csv file", name)
}

func writeCSV(w io.Writer, rows []row) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"id", "input", "expected", "metadata"}); err != nil {
		return err
	}
	for _, r := range rows {
		expected, ok := r.Expected.(string)
		if !ok && r.Expected != nil {
			expected = compact(r.Expected)
		}
		metadata := ""
		if r.Metadata != nil {
			metadata = compact(r.Metadata)
		}
		if err := out.Write([]string{r.ID, r.Input, expected, metadata}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}
