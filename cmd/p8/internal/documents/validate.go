package documents

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
)

type schemaValidateCmd struct {
	Paths []string `arg:"" name:"path" help:"Documents, or folders with documents (.yaml, .yml, .json, .md) at any depth."`
	JSON  bool     `help:"Print JSON."`
}

// checked is the result of p8 schema validate --json.
type checked struct {
	Documents int            `json:"documents"`
	Errors    int            `json:"errors"`
	Warnings  int            `json:"warnings"`
	Problems  agent.Problems `json:"problems"`
}

// Run prints all problems of the documents.
func (c *schemaValidateCmd) Run(a *command.App) error {
	files, err := documents(c.Paths)
	if err != nil {
		return err
	}
	ranks, err := newRankings()
	if err != nil {
		return err
	}
	found := checked{Problems: agent.Problems{}}
	checker := NewChecker(a)
	defer checker.Close()
	for _, file := range files {
		n, problems, err := c.validate(file, checker, ranks)
		if err != nil {
			return err
		}
		found.Documents += n
		if !c.JSON {
			fmt.Fprint(a.Stdout, problems.Detail())
		}
		found.Problems = append(found.Problems, problems...)
	}
	found.Errors, found.Warnings = len(found.Problems.Errors()), len(found.Problems.Warnings())
	if c.JSON {
		err = show.JSON(a.Stdout, found)
	} else {
		_, err = fmt.Fprintf(a.Stdout, "%s checked: %s, %s\n", show.Count(found.Documents, "document"), show.Count(found.Errors, "error"), show.Count(found.Warnings, "warning"))
	}
	if err != nil {
		return err
	}
	if found.Errors > 0 {
		return command.Fail(command.ExitFailed, command.ErrSilent)
	}
	return nil
}

// rankings are the rankings of folders: documents of one folder are used together.
type rankings struct {
	builtin  *catalog.Ranking
	byFolder map[string]*catalog.Ranking
}

func newRankings() (*rankings, error) {
	builtin, err := catalog.NewRanking(agents.Files())
	return &rankings{builtin, map[string]*catalog.Ranking{}}, err
}

// check returns a warning if another document outranks that of a file.
func (r *rankings) check(file string, names []string) agent.Problems {
	folder := filepath.Dir(file)
	if r.byFolder[folder] == nil {
		r.byFolder[folder] = r.builtin.Fresh()
	}
	_, warnings := r.byFolder[folder].Add(file, names)
	return warnings
}

// validate returns the number of documents in a file, and all their problems.
func (c *schemaValidateCmd) validate(file string, checker *Checker, ranks *rankings) (int, agent.Problems, error) {
	src, err := readFile(file)
	if err != nil {
		return 0, nil, err
	}
	names, problems, err := checker.Check(file, src)
	for _, n := range names {
		problems = append(problems, ranks.check(file, n)...)
	}
	return max(len(names), 1), problems, err
}

func readFile(file string) ([]byte, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: make it a file that you may read", show.OneLine(file))
	}
	return src, nil
}

// documents returns the files that the paths name, and the documents in folders at any
// depth except in hidden folders and node_modules.
func documents(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("there is no file or folder %s: name one that exists", path)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		found := len(files)
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != path && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
				return fs.SkipDir
			case !d.IsDir() && catalog.IsDocument(d.Name()) && !Ordinary(name):
				files = append(files, name)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("the folder %s cannot be read: make it one that you may read", path)
		}
		if len(files) == found {
			return nil, fmt.Errorf("the folder %s has no documents: they end in .yaml, .yml or .json, sub-agents of Claude Code in .md", path)
		}
	}
	return files, nil
}

// Ordinary reports whether a file is Markdown and no agent. One that cannot be read is not:
// reading it again says why.
func Ordinary(file string) bool {
	if !strings.EqualFold(filepath.Ext(file), ".md") {
		return false
	}
	src, err := os.ReadFile(file)
	return err == nil && agent.Ordinary(file, src)
}
