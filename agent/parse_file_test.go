package agent_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/testkit/golden"
)

// foreignFiles are files of other programs, by kind, with mistaken ones and ordinary
// Markdown.
func foreignFiles(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/foreign/" + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	var list []string
	for _, f := range files {
		if filepath.Ext(f) != ".golden" {
			list = append(list, f)
		}
	}
	return list
}

// TestParseFile compares the documents and the problems of each file with the golden ones.
func TestParseFile(t *testing.T) {
	for _, file := range foreignFiles(t, "*/*") {
		if filepath.Base(filepath.Dir(file)) == "ordinary" {
			continue
		}
		t.Run(strings.TrimPrefix(file, "testdata/foreign/"), func(t *testing.T) {
			var out bytes.Buffer
			docs, err := agent.ParseFile(filepath.Base(file), read(t, file))
			var problems agent.Problems
			if errors.As(err, &problems) {
				out.WriteString(problems.Detail())
			} else if err != nil {
				t.Fatal(err)
			}
			for _, d := range docs {
				out.WriteString(d.Warnings.Detail())
				out.WriteString("---\n")
				out.Write(converted(t, d))
			}
			golden.Compare(t, file+".golden", out.String())
		})
	}
}

// converted returns the YAML of a document, which must be one of p8 with the same value.
func converted(t testing.TB, d *agent.Document) []byte {
	t.Helper()
	text, err := d.Convert()
	if err != nil {
		t.Fatal(err)
	}
	own, err := agent.ParseFile(d.Key()+".yaml", text)
	if err != nil || len(own) != 1 {
		t.Fatalf("the document that was made is not valid: %v\n%s", err, text)
	}
	again, err := own[0].Convert()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := d.MarshalYAML()
	if err != nil || own[0].Format != "" || !bytes.Equal(again, plain) {
		t.Fatalf("converted twice (%q, %v):\n%s\nonce:\n%s", own[0].Format, err, again, plain)
	}
	return text
}

// TestOrdinary: Markdown that is no agent is left alone in a folder, and an error when it
// is named.
func TestOrdinary(t *testing.T) {
	for _, file := range foreignFiles(t, "ordinary/*") {
		src := read(t, file)
		if !agent.Ordinary(file, src) {
			t.Errorf("%s is taken for an agent", file)
		}
		if _, err := agent.ParseFile(file, src); err == nil || !strings.Contains(err.Error(), ":1:1: this Markdown is no agent") {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, pattern := range []string{"../docs/*.md", "../*.md", "../*/*/testdata/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			if !agent.Ordinary(page, read(t, page)) {
				t.Errorf("%s is taken for an agent", page)
			}
		}
	}
	for _, file := range append(foreignFiles(t, "claude/*"), foreignFiles(t, "mistakes/*.md")...) {
		if agent.Ordinary(file, read(t, file)) {
			t.Errorf("%s is not taken for an agent", file)
		}
	}
}

// TestParseFileLeavesOwnDocuments: a document of p8 is read as Parse reads it.
func TestParseFileLeavesOwnDocuments(t *testing.T) {
	for _, file := range documents(t) {
		src := read(t, file)
		own, err := agent.Parse(file, src)
		docs, fileErr := agent.ParseFile(file, src)
		if err != nil || fileErr != nil {
			if err == nil || fileErr == nil || err.Error() != fileErr.Error() {
				t.Errorf("%s: Parse %v, ParseFile %v", file, err, fileErr)
			}
			continue
		}
		if len(docs) != 1 || docs[0].Format != "" || docs[0].Warnings.Detail() != own.Warnings.Detail() {
			t.Errorf("%s: %d documents of the format %q", file, len(docs), docs[0].Format)
		}
	}
}
