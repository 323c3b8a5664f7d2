package main

import (
	"io"
	"strings"
	"testing"

	"github.com/p8-org/p8/cmd/p8/internal/command"
)

func TestFlagsFirst(t *testing.T) {
	parser, err := newParser(&command.App{Stdout: io.Discard, Stderr: io.Discard}, new(grammar))
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"":                             "",
		"chat hi":                      "chat hi",
		"chat a.yaml --session x hi":   "chat --session x a.yaml hi",
		"chat a.yaml --session=x hi":   "chat --session=x a.yaml hi",
		"chat hi --json you":           "chat --json hi you",
		"--data-dir d chat a -u me b":  "--data-dir d chat -u me a b",
		"chat a --session x -- --b -c": "chat --session x a -- --b -c",
		"chat a --unknown b":           "chat --unknown a b",
		"chat a - --session":           "chat --session a -",
		"chat chat":                    "chat chat",
		"schema validate a --schema b": "schema validate --schema a b",
		"upsert a --json b":            "upsert --json a b",
		"verify-links a --check-db b":  "verify-links --check-db a b",
		"complete chat a --json hi":    "complete chat a --json hi",
		"moments a --limit 3 b":        "moments --limit 3 a b",
		"moments list a --limit 3 b":   "moments list --limit 3 a b",
	} {
		if got := strings.Join(flagsFirst(parser.Model.Node, strings.Fields(line)), " "); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", line, got, want)
		}
	}
}
