package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"

	js "github.com/santhosh-tekuri/jsonschema/v6"
)

// The bounds of patterns, in instructions of the compiled program: about 40 bytes and,
// for each character of a text, 10 ns each. Go's own bound is 3 million.
const (
	maxPattern      = 5_000
	maxPatterns     = 20_000
	maxPatternBytes = 4 << 10
)

// ErrPattern reports that the program of a regular expression would be too large.
var ErrPattern = errors.New("the pattern repeats too much; write smaller counts")

// Pattern compiles a regular expression from an untrusted author. The error is
// [ErrPattern] if its program would be too large, else the syntax error.
func Pattern(text string) (*regexp.Regexp, error) {
	size, err := patternSize(text)
	if err != nil {
		return nil, err
	}
	if size > maxPattern {
		return nil, ErrPattern
	}
	return regexp.Compile(text)
}

// engine compiles the patterns of a schema.
func engine(text string) (js.Regexp, error) {
	re, err := Pattern(text)
	if err != nil {
		return nil, err
	}
	return re, nil
}

// patternSize estimates the instructions of a pattern without compiling it.
func patternSize(text string) (int, error) {
	if len(text) > maxPatternBytes {
		return 0, ErrPattern // parsing is as expensive
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return programSize(re) + classes(re), nil
}

// programSize is the size of an expression's program; counts multiply.
func programSize(re *syntax.Regexp) int {
	const enough = 1 << 30
	size := 1
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size = min(size+programSize(sub), enough)
	}
	if re.Op == syntax.OpRepeat {
		size = min(size*max(re.Min, re.Max, 1), enough)
	}
	return size
}

// classes returns the size of the tables of an expression's character classes: \pL has
// 1,300 entries. Repetitions share them.
func classes(re *syntax.Regexp) int {
	size := 0
	if re.Op == syntax.OpCharClass {
		size = len(re.Rune) / 32
	}
	for _, sub := range re.Sub {
		size += classes(sub)
	}
	return size
}
