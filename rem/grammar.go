package rem

import (
	_ "embed"
)

// grammar.md is written by a test from the examples that it parses:
// go test ./rem -run TestGrammar -update
//
//go:embed grammar.md
var grammar string

// Grammar returns the dialect on a page of Markdown: its rules, one line a verb, and
// examples. It is made for the prompt of a model and for the documentation.
func Grammar() string { return grammar }
