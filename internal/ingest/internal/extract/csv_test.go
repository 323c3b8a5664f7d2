package extract

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzRecord: records end where encoding/csv ends them, and have as many columns.
func FuzzRecord(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "a,\"b\nc\",d\r\n\r\n\n1,,\n", "\"a\"\"b\"x\",c\nd", "\"open\na,b", "a,\rb,\"x\ny\"\n", "a\r", "\"a\"\r", ",", "\n\n", "a,\"\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := csv.NewReader(strings.NewReader(s))
		r.FieldsPerRecord, r.LazyQuotes = -1, true
		for at := 0; at < len(s); {
			fields, err := r.Read()
			want := int(r.InputOffset())
			if errors.Is(err, io.EOF) {
				want = len(s)
			} else if err != nil {
				t.Fatal(err)
			}
			end, columns := record(s, at, ',')
			if end != want {
				t.Fatalf("%q: a record from %d ends at %d, want %d", s, at, end, want)
			}
			if n := len(fields); err == nil && columns != n && (columns != n-1 || end != len(s)) {
				t.Fatalf("%q: %d columns at %d, want %d", s, columns, at, n)
			}
			at = end
		}
	})
}

// FuzzIndented: the estimate is at least the real length, and not much more.
func FuzzIndented(f *testing.F) {
	f.Add(`{"a":[1,2,{"b":null}],"c":"x,\\"[y"}`)
	f.Add(strings.Repeat("[", 50) + strings.Repeat("]", 50))
	f.Fuzz(func(t *testing.T, s string) {
		var compact, b bytes.Buffer
		if json.Compact(&compact, []byte(s)) != nil || json.Indent(&b, compact.Bytes(), "", " ") != nil {
			return
		}
		if n := indented(compact.String()); n < b.Len() {
			t.Errorf("%q: %d, want at least %d", s, n, b.Len())
		}
	})
}

// TestOutlineEnds: every scanner stops when its context ends.
func TestOutlineEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := strings.Repeat("a: b\n", 1<<20)
	for _, f := range []Format{Text, Markdown, YAML, Code} {
		text, err := Outline(ctx, f, s)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range text.Blocks {
			n++
		}
		if n > looks {
			t.Errorf("%s: %d blocks of a context that has ended", f, n)
		}
	}
	if _, err := Outline(ctx, CSV, s); !errors.Is(err, context.Canceled) {
		t.Errorf("CSV: %v", err)
	}
}
