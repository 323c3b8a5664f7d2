package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// errNoReference reports that neither the check nor the sample says what is expected.
var errNoReference = errors.New("nothing is expected: give value in the check, or expected in the sample")

// reference returns the check's own value, or what the sample expects.
func reference(own json.RawMessage, s *Sample) (any, error) {
	text := own
	if text == nil {
		text = s.Expected
	}
	want, err := decode(text)
	if err != nil || want == nil {
		return nil, errNoReference
	}
	return want, nil
}

// exact compares the whole answer. A text ignores white space around it, a JSON value the
// order of keys and how numbers are written.
func exact(s *spec) judge {
	own, fold := s.value("value"), s.flag("ignore_case")
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		want, err := reference(own, s)
		if err != nil {
			return 0, "", err
		}
		text, isText := want.(string)
		if !isText {
			got, ok := s.Output.json()
			if !ok {
				return yes(false, "want %s, got the text %s", write(want), quote(s.Output.Text))
			}
			diff := differences(want, got)
			return yes(len(diff) == 0, "%s", strings.Join(diff, "; "))
		}
		got := s.Output.text()
		a, b := strings.TrimSpace(text), strings.TrimSpace(got)
		if fold {
			a, b = strings.ToLower(a), strings.ToLower(b)
		}
		return yes(a == b, "%s", textDifference(a, b))
	})
}

// contains looks for texts in the answer; the score of mode all is the share that is there.
func contains(s *spec) judge {
	own, fold := s.texts("value"), s.flag("ignore_case")
	mode := s.choice("mode", "all", "any", "none")
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		parts := own
		if parts == nil {
			var err error
			if parts, err = expectedTexts(s); err != nil {
				return 0, "", err
			}
		}
		text := s.Output.text()
		has, lacks := split(parts, func(part string) bool {
			if fold {
				return strings.Contains(strings.ToLower(text), strings.ToLower(part))
			}
			return strings.Contains(text, part)
		})
		switch mode {
		case "any":
			return yes(len(has) > 0, "the answer has none of %s: %s", list(parts), quote(text))
		case "none":
			return yes(len(has) == 0, "the answer has %s: %s", list(has), quote(text))
		}
		if len(lacks) == 0 {
			return 1, "", nil
		}
		return float64(len(has)) / float64(len(parts)), fmt.Sprintf("the answer lacks %s: %s", list(lacks), quote(text)), nil
	})
}

// expectedTexts returns what the sample expects, a text or a list of texts.
func expectedTexts(s *Sample) ([]string, error) {
	want, err := reference(nil, s)
	if err != nil {
		return nil, err
	}
	items, many := want.([]any)
	if !many {
		items = []any{want}
	}
	var out []string
	for _, item := range items {
		switch v := item.(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		default:
			return nil, fmt.Errorf("expected must be a text or a list of texts, not %s: give value in the check", write(item))
		}
	}
	if len(out) == 0 {
		return nil, errNoReference
	}
	return out, nil
}

// matches compares the answer with a regular expression.
func matches(s *spec) judge {
	var re *regexp.Regexp
	fold := s.flag("ignore_case")
	if s.required("pattern") != "" {
		re = s.pattern(s.node.Get("pattern"), tree.Child(s.pointer, "pattern"), fold)
	}
	mode := s.choice("mode", "match", "none")
	return ofAnswer(func(_ context.Context, s *Sample) (float64, string, error) {
		text := s.Output.text()
		at := re.FindStringIndex(text)
		if mode == "none" {
			if at == nil {
				return 1, "", nil
			}
			return yes(false, "%s in the answer matches %s", quote(text[at[0]:at[1]]), brief(re.String()))
		}
		return yes(at != nil, "the answer does not match %s: %s", brief(re.String()), quote(text))
	})
}

// split separates the texts for which a condition holds.
func split(texts []string, holds func(string) bool) (yes, no []string) {
	for _, t := range texts {
		if holds(t) {
			yes = append(yes, t)
		} else {
			no = append(no, t)
		}
	}
	return yes, no
}

// list names some texts, at most five.
func list(texts []string) string {
	const most = 5
	var out []string
	for _, t := range texts[:min(most, len(texts))] {
		out = append(out, quote(t))
	}
	if len(texts) > most {
		out = append(out, fmt.Sprintf("and %d more", len(texts)-most))
	}
	return strings.Join(out, ", ")
}
