package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func says(c Case) string {
	meta, _ := json.Marshal(c.Metadata)
	return fmt.Sprintf("%s@%d %q %s %s", c.ID, c.Line, c.Input, c.Expected, meta)
}

func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		want       []string
	}{
		"yaml": {"a.yaml", "# cases\n- input: What is p8?\n  expected: one binary\n  category: basics\n\n- id: two\n  text: |\n    several\n    - lines\n  reference: {a: 1}\n  metadata:\n    k: [1, 2]\n",
			[]string{`1@2 "What is p8?" "one binary" {"category":"basics"}`, `two@6 "several\n- lines\n" {"a":1} {"k":[1,2]}`}},
		"yaml below a key":  {"a.yml", "cases:\n  - input: a\n  - input: b\n    expected: null\n", []string{`1@2 "a"  null`, `2@3 "b"  null`}},
		"yaml not indented": {"a.yml", "---\nexamples:\n- input: a\n- question: b\n  expected_output: 3\n", []string{`1@3 "a"  null`, `2@4 "b" 3 null`}},
		"jsonl": {"a.jsonl", "\ufeff{\"input\":\"a\",\"ground_truth\":\"x\"}\n\n{\"input\":{\"text\":\"b\\ud83d\\ude00\"},\"id\":7}",
			[]string{`1@1 "a" "x" null`, `7@3 "b😀"  null`}},
		"json":             {"a.json", "[\n {\"input\":\"a\"},\n {\"input\":\"b\"}]", []string{`1@2 "a"  null`, `2@3 "b"  null`}},
		"json below a key": {"a.json", `{"name":"x","examples":[{"input":"a"}]}`, []string{`1@1 "a"  null`}},
		"csv": {"A.CSV", "\ufeffinput,reference,category,metadata\n\"several\nlines, quoted\",x,c,\"{\"\"k\"\":1}\"\nb,,,\nc,[1],,\n",
			[]string{`1@2 "several\nlines, quoted" "x" {"category":"c","k":1}`, `2@4 "b"  null`, `3@5 "c" [1] null`}},
	} {
		cases, err := Load(test.file, strings.NewReader(test.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, c := range cases {
			got = append(got, says(c))
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestMistakes(t *testing.T) {
	for name, test := range map[string]struct{ file, text, want string }{
		"no format":               {"a.txt", "x", "a.txt is no dataset: give a .yaml, .jsonl, .json or .csv file"},
		"nothing":                 {"a.yaml", "# nothing\n", "a.yaml has no cases"},
		"no list":                 {"a.yaml", "input: a\n", `a.yaml:1:1: a dataset is a list of cases: begin each with "- input:"`},
		"no input":                {"a.yaml", "- input: a\n- expected: b\n", "a.yaml:2:1: the case has no input: give it the key input (or text, question)"},
		"an input that is a list": {"a.yaml", "- id: a\n  input: [1]\n", "a.yaml:2:3: input is no text"},
		"two names":               {"a.yaml", "- input: a\n  text: b\n", "a.yaml:2:3: text and input mean the same: keep one"},
		"an id twice":             {"a.jsonl", "{\"id\":\"a\",\"input\":\"x\"}\n{\"id\":\"a\",\"input\":\"y\"}\n", `a.jsonl:2:1: the id "a" belongs to the case at line 1: give each case its own`},
		"metadata":                {"a.yaml", "- input: a\n  metadata: 1\n", "a.yaml:2:3: metadata is no mapping: write keys with values"},
		"wrong YAML":              {"a.yaml", "- input: a\n- input: \"b\n", "a.yaml:2:10: not valid YAML: could not find end character of double-quoted text"},
		"an alias":                {"a.yaml", "- input: &a b\n", "a.yaml:1:10: anchors and aliases are not taken: write the value out"},
		"wrong JSON":              {"a.jsonl", "{\"input\":\"a\"}\n{\"input\": x}\n", "a.jsonl:2:11: not valid JSON: invalid character 'x' looking for beginning of value"},
		"cut JSON":                {"a.jsonl", "{\"input\":\"a\"", "a.jsonl:1:12: not valid JSON: it ends too early"},
		"no object":               {"a.jsonl", "[1]\n", "a.jsonl:1:1: this is no JSON object"},
		"two objects":             {"a.jsonl", "{\"input\":\"a\"} {}\n", "a.jsonl:1:15: something follows the object: write one a line"},
		"no JSON list":            {"a.json", "{\"x\":1}", "a.json:1:1: this is no JSON list of cases"},
		"a cut list":              {"a.json", "[{\"input\":\"a\"}\n", "a.json:2:1: not valid JSON: the list has no end"},
		"no column":               {"a.csv", "a,b\nc,d\n", "a.csv:1:1: no column is named input (or text, question): the first line has the names"},
		"columns missing":         {"a.csv", "input,b\nc\n", "a.csv:2:1: the row has 1 columns, not 2 as the first line"},
		"an open quote":           {"a.csv", "input\n\"c\n", "a.csv:2:4: not valid CSV: extraneous or missing \" in quoted-field"},
		"every mistake": {"a.yaml", "- x: 1\n- input: a\n- x: 1\n",
			"a.yaml:1:1: the case has no input: give it the key input (or text, question)\na.yaml:3:1: the case has no input: give it the key input (or text, question)"},
		"a huge case":      {"a.jsonl", `{"input":"` + strings.Repeat("a", maxCase) + `"}`, "a.jsonl:1:1: the case is longer than 1048576 bytes"},
		"a huge YAML case": {"a.yaml", "- input: |\n" + strings.Repeat("   a\n", maxCase/5+1), "a.yaml:1:1: the case is longer than 1048576 bytes"},
	} {
		_, err := Load(test.file, strings.NewReader(test.text))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v\nwant %s", name, err, test.want)
		}
	}
}

// TestReadStreams: a case is there before the file has been read.
func TestReadStreams(t *testing.T) {
	endless := map[string][2]string{
		"a.jsonl": {"", "{\"input\":\"a\"}\n"}, "a.yaml": {"", "- input: a\n"}, "a.csv": {"input\n", "a\n"},
	}
	for name, text := range endless {
		n := 0
		for c, err := range Read(name, io.MultiReader(strings.NewReader(text[0]), &repeated{text[1], 0})) {
			if n++; err != nil {
				if n != MaxCases+1 || !strings.Contains(err.Error(), "more than 100000 cases: split the dataset") {
					t.Errorf("%s: %v after %d cases", name, err, n)
				}
			} else if c.Input != "a" || name != "a.csv" && n == 1000 {
				break
			}
		}
		if n < 1000 {
			t.Errorf("%s: %d cases", name, n)
		}
	}
}

// repeated reads a text for ever.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		some := copy(p[n:], r.text[r.at:])
		n, r.at = n+some, (r.at+some)%len(r.text)
	}
	return n, nil
}

// TestWrite: what is written is read again.
func TestWrite(t *testing.T) {
	cases := []Case{
		{ID: "a", Input: "several\nlines: \"quoted\", <b>", Expected: json.RawMessage(`"yes"`), Metadata: map[string]any{"agent": "x", "n": 1.0}},
		{ID: "b", Input: "- no list", Expected: json.RawMessage(`{"a":[1]}`)},
		{ID: "3", Input: "true"},
	}
	for _, name := range []string{"a.yaml", "a.jsonl", "a.csv"} {
		var b bytes.Buffer
		if err := Write(name, &b, cases); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		got, err := Load(name, &b)
		for i := range got {
			got[i].Line = 0
		}
		if d := cmp.Diff(cases, got); d != "" || err != nil {
			t.Errorf("%s: %v %s\n%s", name, err, d, text)
		}
	}
	if err := Write("a.txt", io.Discard, nil); err == nil {
		t.Error("a text file")
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"- input: a\n  metadata: {b: 1}\n", "{\"input\":\"a\"}\n", "input,id\na,b\n", "[{\"input\":\"a\"}]"} {
		for format := range 4 {
			f.Add(format, text)
		}
	}
	f.Fuzz(func(t *testing.T, format int, text string) {
		name := []string{"a.yaml", "a.jsonl", "a.json", "a.csv"}[uint(format)%4]
		cases, _ := Load(name, strings.NewReader(text))
		for _, c := range cases {
			if strings.TrimSpace(c.Input) == "" || c.ID == "" || c.Line < 1 {
				t.Errorf("%+v", c)
			}
		}
	})
}
