package documents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
)

type schemaConvertCmd struct {
	Paths  []string `arg:"" name:"path" help:"Agent files of other programs, or folders with them at any depth."`
	Output string   `short:"o" placeholder:"FOLDER" help:"Write each document into this folder, as NAME.yaml, in place of the output."`
	Force  bool     `help:"With --output: replace files that are there."`
}

// made is a document of p8 to be written.
type made struct {
	// file is where it comes from, name what it is written as.
	file, name string
	text       []byte
}

// Run prints one document, or writes all of them into a folder.
func (c *schemaConvertCmd) Run(a *command.App) error {
	files, err := documents(c.Paths)
	if err != nil {
		return err
	}
	var list []made
	bad := false
	for _, file := range files {
		docs, err := convert(file)
		var problems agent.Problems
		if errors.As(err, &problems) {
			fmt.Fprint(a.Stderr, problems.Detail())
			bad = true
		} else if err != nil {
			return err
		}
		list = append(list, docs...)
	}
	if bad {
		return command.Fail(command.ExitFailed, command.ErrSilent)
	}
	if c.Output != "" {
		return c.write(a, list)
	}
	if c.Force {
		return command.Usage("--force replaces files: give their folder with --output")
	}
	if len(list) > 1 {
		return command.Usage("there are %d agents, and a document holds one: write them into a folder with -o FOLDER", len(list))
	}
	_, err = a.Stdout.Write(list[0].text)
	return err
}

// convert returns the documents of a file. Those of p8 stay as they are.
func convert(file string) ([]made, error) {
	src, err := readFile(file)
	if err != nil {
		return nil, err
	}
	docs, err := agent.ParseFile(file, src)
	if err != nil {
		return nil, err
	}
	var list []made
	for _, d := range docs {
		m := made{file: file, name: d.Key() + ".yaml", text: src}
		if d.Format == "" {
			m.name = filepath.Base(file)
		} else if m.text, err = d.Convert(); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// write writes all documents, or none if one of them would replace a file.
func (c *schemaConvertCmd) write(a *command.App, list []made) error {
	from := map[string]string{}
	for _, m := range list {
		path := filepath.Join(c.Output, m.name)
		if first, taken := from[m.name]; taken {
			return fmt.Errorf("%s and %s both have the agent %s: write them into different folders", show.OneLine(first), show.OneLine(m.file), show.OneLine(m.name))
		}
		from[m.name] = m.file
		if _, err := os.Lstat(path); err == nil && !c.Force {
			return fmt.Errorf("%s is there already: --force replaces it", show.OneLine(path))
		}
	}
	if err := os.MkdirAll(c.Output, 0o755); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %s", show.OneLine(c.Output), show.Reason(err))
	}
	for _, m := range list {
		path := filepath.Join(c.Output, m.name)
		err := c.put(path, m.text)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already: --force replaces it", show.OneLine(path))
		}
		if err != nil {
			return fmt.Errorf("%s cannot be written: %s", show.OneLine(path), show.Reason(err))
		}
		fmt.Fprintf(a.Stdout, "%s: written as %s\n", show.OneLine(m.file), show.OneLine(path))
	}
	return nil
}

func (c *schemaConvertCmd) put(path string, text []byte) error {
	if c.Force {
		return os.WriteFile(path, text, 0o644)
	}
	return create(path, text)
}
