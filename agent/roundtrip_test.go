package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/p8-org/p8/agent"
)

// ordered writes any JSON text compactly without touching the order of its
// keys, so that two texts of one value in one order become equal.
func ordered(t interface{ Fatal(...any) }, src []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, src); err != nil {
		t.Fatal(err, string(src))
	}
	return out.String()
}

// checkRoundTrip: out as JSON and as YAML and in again is the same value with
// the same order.
func checkRoundTrip(t interface {
	Helper()
	Fatal(...any)
}, d *agent.Document, want string) {
	t.Helper()
	asJSON, err := d.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if got := ordered(t, asJSON); want != "" && got != want {
		t.Fatal("JSON differs:\n" + cmp.Diff(want, got))
	}
	asYAML, err := d.MarshalYAML()
	if err != nil {
		t.Fatal(err)
	}
	for form, src := range map[string][]byte{"json": asJSON, "yaml": asYAML} {
		again, err := agent.Parse("again."+form, src)
		if err != nil {
			t.Fatal(form, err, "\n"+string(src))
		}
		back, err := again.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(asJSON, back) {
			t.Fatal(form + " does not come back:\n" + string(src) + cmp.Diff(string(asJSON), string(back)))
		}
	}
}

func TestDocumentsRoundTrip(t *testing.T) {
	for _, file := range documents(t) {
		t.Run(file, func(t *testing.T) {
			src := read(t, file)
			want := ""
			if strings.HasSuffix(file, ".json") {
				want = ordered(t, src)
			}
			checkRoundTrip(t, parse(t, file, src), want)
		})
	}
}

// anyJSON draws a JSON value with awkward keys and texts; keys of an object
// differ.
func anyJSON(depth int) *rapid.Generator[string] {
	quoted := rapid.Custom(func(t *rapid.T) string {
		s := rapid.OneOf(
			rapid.String(),
			rapid.StringOf(rapid.SampledFrom([]rune(" \t\n\r:#-|>'\"&*!%@`[]{},?\\a0.eE_~<=\u00a0\u2028\ufeff\u0085é😀"))),
			rapid.SampledFrom([]string{"", "null", "true", "yes", "~", "1", "1e5", "0x1f", ".inf", "- a", "a: b", "a #b", "a\nb\n", "a\n\n", " a\nb", "a\n  b\n", "<<", "---", "...", "*a", "2024-01-01", "=", "a\n \nb", "x\n#y\n"}),
		).Draw(t, "text")
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	})
	return rapid.Custom(func(t *rapid.T) string {
		top := 5
		if depth == 0 {
			top = 3
		}
		switch rapid.IntRange(0, top).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word")
		case 1:
			return rapid.SampledFrom([]string{"0", "-0", "1", "1.0", "1e5", "1E+5", "-2.5e-3", "12345678901234567890123", "0.1", "1e300"}).Draw(t, "number")
		case 2, 3:
			return quoted.Draw(t, "string")
		case 4:
			return "[" + strings.Join(rapid.SliceOfN(anyJSON(depth-1), 0, 4).Draw(t, "list"), ",") + "]"
		}
		var members []string
		for _, key := range rapid.SliceOfNDistinct(quoted, 0, 4, rapid.ID[string]).Draw(t, "keys") {
			members = append(members, key+":"+anyJSON(depth-1).Draw(t, "value"))
		}
		return "{" + strings.Join(members, ",") + "}"
	})
}

// Unknown keys, at the root, in json_schema_extra, in tools and in fields, with
// any value.
func TestRoundTripOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anyJSON(2)
		doc := fmt.Sprintf(`{"description": "d", "x_a": %s, "properties": {"p": {"type": "string", "x-b": %s}}, "tools": [{"x_c": %s, "name": "search"}], "name": "n", "x_z": %s}`,
			value.Draw(t, "a"), value.Draw(t, "b"), value.Draw(t, "c"), value.Draw(t, "z"))
		if rapid.Bool().Draw(t, "nested") {
			doc = fmt.Sprintf(`{"x_a": %s, "description": "d", "json_schema_extra": {"x_b": %s, "name": "n"}}`, value.Draw(t, "a"), value.Draw(t, "b"))
		}
		d, err := agent.Parse("", []byte(doc))
		if err != nil {
			t.Fatal(err, doc)
		}
		checkRoundTrip(t, d, "")

		var want, got any
		out, err := d.MarshalJSON()
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(doc), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestUnmarshalJSON(t *testing.T) {
	var holder struct{ Schema *agent.Document }
	if err := json.Unmarshal([]byte(`{"Schema": {"name": "x", "description": "d"}}`), &holder); err != nil || holder.Schema.Key() != "x" {
		t.Errorf("got %+v, %v", holder.Schema, err)
	}
	if err := json.Unmarshal([]byte(`{"Schema": {"name": "x"}}`), &holder); err == nil {
		t.Error("a document without description passes")
	}
	out, err := json.Marshal(&agent.Document{Fields: agent.Fields{Name: "made", Description: "d"}})
	if want := `{"type":"object","name":"made","description":"d"}`; err != nil || string(out) != want {
		t.Errorf("got %s, %v; want %s", out, err, want)
	}
}
