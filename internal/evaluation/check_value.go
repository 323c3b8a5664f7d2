package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/internal/tree"
)

// jsonSchema validates the structured answer, or the text read as JSON.
func jsonSchema(s *spec) judge {
	n := s.get("schema")
	if n == nil || n.Kind != tree.Object && n.Kind != tree.Boolean {
		s.fail("schema", "write a JSON Schema below schema:", "schema is missing, or is no mapping")
		return nil
	}
	compiled, err := schema.Compile(n.Any(), schema.Options{AssertFormat: true})
	var excess *schema.Excess
	switch faults := schema.Faults(err); {
	case err == nil:
	case errors.As(err, &excess):
		at, pointer := n.Follow(excess.Path)
		s.failAt(at, tree.Child(s.pointer, "schema")+pointer, excess.Hint, "%s", excess.Message)
	case len(faults) > 0:
		at, pointer := n.Follow(faults[0].Path)
		s.failAt(at, tree.Child(s.pointer, "schema")+pointer, "see JSON Schema 2020-12", "this is not valid JSON Schema: %s", faults[0].Message)
	default:
		s.fail("schema", "check $schema, $id, $ref and the patterns", "this is not valid JSON Schema")
	}
	return ofAnswer(func(ctx context.Context, s *Sample) (float64, string, error) {
		got, ok := s.Output.json()
		if !ok {
			return yes(false, "the answer is not JSON: %s", quote(s.Output.Text))
		}
		failures, err := compiled.Validate(ctx, got)
		if err != nil {
			return 0, "", err
		}
		var why []string
		for _, f := range failures.List[:min(len(failures.List), maxDifferences)] {
			why = append(why, schema.Pointer(f.Path)+": "+brief(f.Message))
		}
		if more := len(failures.List) - len(why) + failures.More; more > 0 {
			why = append(why, fmt.Sprintf("and %d more", more))
		}
		return yes(len(failures.List) == 0 && failures.More == 0, "%s", strings.Join(why, "; "))
	})
}

// jsonPath looks at a part of the structured answer.
func jsonPath(s *spec) judge {
	p := s.path("path", true)
	equals, exists := s.value("equals"), true
	if s.get("exists") != nil {
		exists = s.flag("exists")
		if equals != nil {
			s.fail("exists", "take one of them away", "exists and equals cannot be given together")
		}
	}
	want, _ := decode(equals)
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		answer, ok := s.Output.json()
		if !ok {
			return yes(false, "the answer is not JSON: %s", quote(s.Output.Text))
		}
		found := p.find(answer)
		switch {
		case equals == nil && exists:
			return yes(len(found) > 0, "%s is not there", p)
		case equals == nil:
			return yes(len(found) == 0, "%s is there: %s", p, writeFirst(found))
		case len(found) == 0:
			return yes(false, "%s is not there; want %s", p, write(want))
		}
		var why []string
		for _, got := range found {
			if why = differences(want, got); len(why) == 0 {
				return 1, "", nil
			}
		}
		if len(found) > 1 {
			return yes(false, "none of the %d values at %s is %s", len(found), p, write(want))
		}
		return yes(false, "%s: %s", p, strings.Join(why, "; "))
	})
}

func writeFirst(found []any) string {
	if len(found) == 0 {
		return ""
	}
	return write(found[0])
}

// numbers finds numbers in a text, with or without commas between thousands.
var numbers = regexp.MustCompile(`-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][+-]?\d+)?`)

// numeric compares a number of the answer. Without a path it takes the number of the text
// that is nearest to the wanted one.
func numeric(s *spec) judge {
	wanted, given := s.number("value", math.Inf(-1), math.Inf(1))
	absolute, isAbsolute := s.number("tolerance", 0, math.Inf(1))
	relative, isRelative := s.number("relative", 0, math.Inf(1))
	if isAbsolute && isRelative {
		s.fail("relative", "take one of them away", "tolerance and relative cannot be given together")
	}
	p := s.path("path", false)
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		want := wanted
		if !given {
			v, err := reference(nil, s)
			if err != nil {
				return 0, "", err
			}
			var ok bool
			if want, ok = toNumber(v); !ok {
				return 0, "", fmt.Errorf("expected is no number: %s", write(v))
			}
		}
		candidates := numbersOf(&s.Output, p)
		if len(candidates) == 0 {
			if p != nil {
				return yes(false, "there is no number at %s; want %v", p, want)
			}
			return yes(false, "the answer has no number; want %v: %s", want, quote(s.Output.text()))
		}
		got := candidates[0]
		for _, c := range candidates {
			if math.Abs(c-want) < math.Abs(got-want) {
				got = c
			}
		}
		allowed := absolute
		if isRelative {
			allowed = relative * math.Abs(want)
		}
		// 0.1+0.2 is 0.3 here.
		allowed += 1e-9 * math.Max(1, math.Abs(want))
		return yes(math.Abs(got-want) <= allowed, "want %v ± %v, got %v", want, allowedText(absolute, relative, isRelative), got)
	})
}

func allowedText(absolute, relative float64, isRelative bool) string {
	if isRelative {
		return strconv.FormatFloat(relative*100, 'g', 4, 64) + " %"
	}
	return strconv.FormatFloat(absolute, 'g', -1, 64)
}

// numbersOf returns the numbers at a path, or without one those of the text.
func numbersOf(o *Output, p *path) []float64 {
	var out []float64
	if p != nil {
		answer, _ := o.json()
		for _, v := range p.find(answer) {
			if f, ok := toNumber(v); ok {
				out = append(out, f)
			}
		}
		return out
	}
	for _, text := range numbers.FindAllString(o.text(), maxNumbers) {
		if f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64); err == nil {
			out = append(out, f)
		}
	}
	return out
}

// maxNumbers bounds the numbers of a text that are compared.
const maxNumbers = 10_000

// toNumber returns the number that a JSON value is, or that a text consists of.
func toNumber(v any) (float64, bool) {
	text := ""
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.ReplaceAll(strings.TrimSpace(v), ",", "")
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}
