package converse

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/documents"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/near"
)

// documentArgument reads `p8 chat FILE [MESSAGE]` and `--agent FILE` as the document that
// answers. It returns "" if the command line names no file.
func (c *Chat) documentArgument() (string, error) {
	path := ""
	if isPath(c.Agent) && catalog.IsDocument(filepath.Base(c.Agent)) {
		path, c.Agent = c.Agent, ""
	} else if len(c.Message) > 0 && namesFile(c.Message[0], len(c.Message) == 1) {
		path, c.Message = c.Message[0], c.Message[1:]
	}
	if path == "" {
		return "", nil
	}
	if c.Agent != "" {
		return "", command.Usage("--agent %s and %s both name an agent: give one of them", show.OneLine(c.Agent), show.OneLine(path))
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", noFile(path)
	case info.IsDir():
		return "", command.Usage("%s is a folder: give a document, or run `p8 dev %s`", show.OneLine(path), show.OneLine(path))
	}
	return path, nil
}

// namesFile reports whether the first word of a message is a path. alone: it is the whole
// message.
func namesFile(word string, alone bool) bool {
	if strings.ContainsFunc(word, unicode.IsSpace) {
		return false
	}
	info, err := os.Stat(word)
	if err == nil && info.IsDir() {
		return isPath(word) || alone && len(documentsIn(word)) > 0
	}
	if !catalog.IsDocument(filepath.Base(word)) {
		return false
	}
	return alone || isPath(word) || err == nil && !documents.Ordinary(word)
}

// isPath reports whether a word has a separator of folders.
func isPath(word string) bool { return strings.ContainsAny(word, `/`+string(filepath.Separator)) }

// noFile returns the error of a document that is not there, with a similar one.
func noFile(path string) error {
	dir, base := filepath.Split(path)
	if similar := near.Word(base, documentsIn(filepath.Clean(dir+"."))); similar != "" {
		return command.Usage("there is no file %s; did you mean %s?", show.OneLine(path), show.OneLine(dir+similar))
	}
	return command.Usage("there is no file %s: give the path of an agent's document", show.OneLine(path))
}

// documentsIn returns the documents of a folder, none if it cannot be read.
func documentsIn(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if catalog.IsDocument(e.Name()) && !documents.Ordinary(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

// subFolder returns the first sub-folder with documents, or "".
func subFolder(dir string) string {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && len(documentsIn(path)) > 0 {
			return path
		}
	}
	return ""
}

// readDocument returns the name of the first agent in a file, and prints all warnings.
func readDocument(a *command.App, path string) (string, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: make it a file that you may read", show.OneLine(path))
	}
	docs, err := agent.ParseFile(path, src)
	var problems agent.Problems
	if errors.As(err, &problems) {
		return "", problems
	}
	if err != nil {
		return "", err
	}
	for _, doc := range docs {
		fmt.Fprint(a.Stderr, doc.Warnings.Detail())
	}
	return docs[0].Key(), nil
}
