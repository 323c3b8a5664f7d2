package cases

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/testcase"
)

// files returns the files of cases that the paths name.
func files(paths []string, documents string) ([]string, error) {
	if len(paths) == 0 {
		paths = []string{"."}
		if documents != "" {
			paths = []string{documents}
		}
	}
	var out []string
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, command.Usage("there is no file or folder %s: name a file of cases or a folder", show.OneLine(path))
		case !info.IsDir():
			out = append(out, path)
			continue
		}
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("the folder %s cannot be read: make it one that you may read", show.OneLine(path))
		}
		found, err := testcase.Find(os.DirFS(path), filepath.Base(whole))
		if err != nil {
			return nil, fmt.Errorf("the folder %s cannot be read: make it one that you may read", show.OneLine(path))
		}
		for _, name := range found {
			out = append(out, filepath.Join(path, filepath.FromSlash(name)))
		}
	}
	if len(out) == 0 {
		return nil, command.Usage("there are no cases in %s: write some beside a document, into NAME.test.yaml; `p8 help docs/testing-agents` shows how", show.OneLine(paths[0]))
	}
	return out, nil
}

// read reads files of cases. The error has all mistakes.
func read(files []string) ([]*testcase.Case, error) {
	var list []*testcase.Case
	var problems agent.Problems
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: make it a file that you may read", show.OneLine(file))
		}
		f, err := testcase.Parse(file, src)
		var found agent.Problems
		switch {
		case errors.As(err, &found):
			problems = append(problems, found...)
			continue
		case err != nil:
			return nil, err
		}
		for _, c := range f.Cases {
			if err := beside(c); err != nil {
				return nil, err
			}
		}
		list = append(list, f.Cases...)
	}
	if len(problems) > 0 {
		return nil, command.Fail(command.ExitUsage, problems)
	}
	return list, nil
}

// beside gives a case that names no agent the agent of the document beside its file.
func beside(c *testcase.Case) error {
	if c.Agent != "" {
		return nil
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(c.File, filepath.Ext(c.File)), ".test")
	for _, ext := range []string{".yaml", ".yml", ".json", ".md"} {
		path := stem + ext
		if path == c.File {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		docs, err := agent.ParseFile(path, src)
		if err != nil {
			return command.Fail(command.ExitFailed, err)
		}
		c.Agent, c.Document = docs[0].Key(), path
		return nil
	}
	return command.Fail(command.ExitUsage, agent.Problems{{
		Severity: agent.SeverityError, File: c.File, Line: c.Line, Column: c.Column,
		Message: fmt.Sprintf("the case names no agent, and no document %s.yaml is beside the file", filepath.Base(stem)),
		Hint:    "add agent: and the agent's name, to the case or to the file",
	}})
}

// disk has the recordings and golden files.
type disk struct{}

// Read reads a file.
func (disk) Read(path string) ([]byte, error) { return os.ReadFile(path) }

// Write writes a file and makes its folder.
func (disk) Write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
