package formula_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/scoring/formula"
)

func scope() formula.Scope {
	return formula.Scope{
		"accuracy": formula.Number, "completeness": formula.Number, "pass": formula.Bool, "severity": formula.Text,
		"gaps": formula.List, "claims": formula.Map, "unknown": formula.Any,
	}
}

func values() map[string]any {
	return map[string]any{
		"accuracy": 0.5, "completeness": 0.75, "pass": true, "severity": "minor",
		"gaps": []any{0.25, 0.75, "x"}, "claims": map[string]any{"n": 3.0, "of": []any{1.0, 2.0}}, "unknown": "text",
	}
}

func TestEval(t *testing.T) {
	for text, want := range map[string]any{
		"0.6 * accuracy + 0.4 * completeness":                 0.6,
		"1 - 2 - 3":                                           -4.0,
		"-2 * (3 + 4) % 5":                                    -4.0,
		"1e2 / .5":                                            200.0,
		"accuracy >= 0.5 and pass":                            true,
		"accuracy > 0.5 or not pass":                          false,
		"!pass || accuracy == 0.5 && pass":                    true,
		"not accuracy == 0.5":                                 false,
		`severity in ["none", 'minor']`:                       true,
		`severity not in ["none"]`:                            true,
		`"in" in severity`:                                    true,
		`"n" in claims`:                                       true,
		"claims.n == 3 and claims['of'][-1] == 2":             true,
		"claims.absent == None":                               true,
		"accuracy if pass else 0":                             0.5,
		"False ? 1 : pass ? 2 : 3":                            2.0,
		"len(gaps) + len(severity) + len(claims)":             10.0,
		"min(accuracy, completeness) + max([1, 2])":           2.5,
		"mean(gaps[0], gaps[1]) + sum([])":                    0.5,
		"round(2/3, 2) + round(1.5) + floor(1.9) + ceil(0.1)": 4.67,
		`abs(-1) == 1 and upper("a") < lower("B")`:            true,
		"pass or unknown > 3":                                 true,
		"[1, \"a\", [true]] == [1.0, 'a', [pass]]":            true,
		`"é\"\\" == 'é"\\'`:                                   true,
		"unknown":                                             "text",
	} {
		f, err := formula.Compile(text, scope())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := f.Eval(values())
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if f, ok := got.(float64); ok && fmt.Sprintf("%.9f", f) == fmt.Sprintf("%.9f", want) {
			continue
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "1: the expression is empty (write one such as accuracy >= 0.5)",
		"acuracy >= 0.5":           "1: there is no field acuracy (did you mean accuracy?)",
		"pass and zzz":             "10: there is no field zzz (there are accuracy, claims, completeness, gaps, pass, severity, unknown)",
		"mean(gaps) + average(1)":  "14: there is no function average (there are abs, ceil, floor, len, lower, max, mean, min, round, sum, upper)",
		"__import__('os')":         "1: there is no function __import__ (there are abs, ceil, floor, len, lower, max, mean, min, round, sum, upper)",
		"pass.__class__":           "5: an index needs a list or a mapping, not a boolean ()",
		"pass + 1":                 "6: + needs a number, not a boolean ()",
		"accuracy and pass":        "10: and needs a boolean, not a number ()",
		"not accuracy":             "1: not needs a boolean, not a number ()",
		`accuracy > "a"`:           "10: > cannot compare a number with a text ()",
		"pass > pass":              "6: > needs a number or a text, not a boolean ()",
		"accuracy = 1":             "10: unexpected = (write == to compare)",
		"accuracy; pass":           "9: unexpected ; ()",
		"accuracy pass":            "10: unexpected pass (expected an operator, such as + or >=)",
		"accuracy +":               "11: the expression ends too early (expected a field, a number, a text or ()",
		"(accuracy":                "10: the expression ends too early (expected ))",
		"0 < accuracy < 1":         "14: comparisons cannot be chained (write a < b and b < c)",
		"'abc":                     "1: the text does not end (close the quote)",
		"round()":                  "1: round takes 1 to 2 arguments, not 0 ()",
		"upper(accuracy)":          "1: upper needs a text, not a number ()",
		"accuracy ? 1 : 2":         "10: a condition needs a boolean, not a number ()",
		"1 if pass":                "10: the expression ends too early (expected else)",
		"accuracy in 3":            "10: in needs a list or a text or a mapping, not a number ()",
		"1e":                       "2: unexpected e (expected an operator, such as + or >=)",
		"é é":                      "1: there is no field é (there are accuracy, claims, completeness, gaps, pass, severity, unknown)",
		strings.Repeat("(", 60):    "51: the expression is nested too deep (split it into several derived scores)",
		strings.Repeat("-", 60):    "50: the expression is nested too deep (split it into several derived scores)",
		strings.Repeat("not ", 60): "197: the expression is nested too deep (split it into several derived scores)",
		strings.Repeat("1+", 1001): "1: the expression is too long (split it into several derived scores)",
	} {
		_, err := formula.Compile(text, scope())
		var mistake *formula.Error
		if !errors.As(err, &mistake) {
			t.Errorf("%s: %v", text, err)
		} else if got := fmt.Sprintf("%d: %s (%s)", mistake.At+1, mistake.Message, mistake.Hint); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestFailures(t *testing.T) {
	for text, want := range map[string]string{
		"1 / (accuracy - 0.5)": `the expression "1 / (accuracy - 0.5)": 1 is divided by 0`,
		"1 % 0":                `the expression "1 % 0": 1 is divided by 0`,
		"1e308 * 10":           `the expression "1e308 * 10": the result of the arithmetic is not a finite number`,
		"unknown + 1":          `the expression "unknown + 1": + needs a number, not a text`,
		"sum(gaps)":            `the expression "sum(gaps)": sum: needs numbers, not a text`,
		"max([])":              `the expression "max([])": max: the list is empty`,
		"gaps[3]":              `the expression "gaps[3]": a list of 3 has no item 3`,
		"claims.n.x":           `the expression "claims.n.x": an index needs a list or a mapping, not a number`,
		"severity":             `the expression "severity": the result is not a number but a text`,
		"pass and unknown":     `the expression "pass and unknown": and needs a boolean, not a text`,
	} {
		f, err := formula.Compile(text, scope())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := f.Float(values()); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func FuzzFormula(f *testing.F) {
	for _, text := range []string{
		"0.6*accuracy+0.4*completeness", "pass and severity in ['a'] or not (len(gaps) > 3)", "claims.of[-1] if pass else min(1, 2)", "a ? b : c",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		compiled, err := formula.Compile(text, scope())
		if err != nil {
			var mistake *formula.Error
			if !errors.As(err, &mistake) || mistake.At < 0 || mistake.At > len([]rune(text)) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		v, err := compiled.Eval(values())
		again, errAgain := compiled.Eval(values())
		if fmt.Sprint(v, err) != fmt.Sprint(again, errAgain) {
			t.Errorf("%q gives %v and then %v", text, v, again)
		}
	})
}
