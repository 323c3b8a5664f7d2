package documents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
)

// Init is p8 init.
type Init struct {
	Folder string `arg:"" optional:"" default:"my-agents" help:"Folder for the agent, which is made if it is not there (${default})."`
	Name   string `default:"assistant" help:"Name of the agent (${default})."`
}

// schemaFile is the JSON Schema of documents, beside them. The catalog does not read it.
const schemaFile = "agent.schema.json"

// firstAgent is the document that p8 init writes; %s is its name.
const firstAgent = `# yaml-language-server: $schema=./` + schemaFile + `
type: object
name: %s
description: |
  You are a helpful assistant. Search before you answer, and name the keys of
  what you found. If you found nothing, say so.
properties:
  subject:
    type: string
    description: What the question is about, in a few words
tools:
  - name: search
    description: Everything that is stored
`

// agentName is the form of names that need no quotes, in a document or in a shell.
var agentName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// Run writes a document and the schema that editors check it with.
func (c *Init) Run(a *command.App) error {
	if err := c.checkName(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Folder, 0o755); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %s", show.OneLine(c.Folder), show.Reason(err))
	}
	path := filepath.Join(c.Folder, c.Name+".yaml")
	document := fmt.Appendf(nil, firstAgent, c.Name)
	err := create(path, document)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: run `p8 chat %s`, or choose another --name", show.OneLine(path), show.OneLine(path))
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %s", show.OneLine(path), show.Reason(err))
	}
	if err := c.writeSchema(a); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, `%s  is your agent: change its description
%s  checks it in your editor

  p8 dev %s    talks to it while you change it
  p8 chat %s "What can you do?"
`, path, filepath.Join(c.Folder, schemaFile), c.Folder, path)
	return nil
}

// checkName refuses a name that a document should not have.
func (c *Init) checkName() error {
	if !agentName.MatchString(c.Name) || len(c.Name) > 64 {
		return command.Usage("--name %q is not a simple name: use small letters, digits and dashes, as in release-notes", show.OneLine(c.Name))
	}
	reserved, err := catalog.Names(agents.Files())
	if err != nil {
		return err
	}
	if slices.Contains(reserved, c.Name) {
		return command.Usage("--name %s belongs to a built-in agent: choose another", c.Name)
	}
	return nil
}

// writeSchema writes the JSON Schema of this version. It replaces only one of p8's.
func (c *Init) writeSchema(a *command.App) error {
	path := filepath.Join(c.Folder, schemaFile)
	old, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(old, agent.Spec()):
		return nil
	case err == nil && titleOf(old) != titleOf(agent.Spec()):
		a.Say("%s is not p8's and stays as it is: `p8 schema spec` prints the schema of documents", show.OneLine(path))
		return nil
	}
	if err := os.WriteFile(path, agent.Spec(), 0o644); err != nil {
		return fmt.Errorf("%s cannot be written: %s", show.OneLine(path), show.Reason(err))
	}
	return nil
}

// titleOf returns the title of a JSON Schema.
func titleOf(schema []byte) string {
	var s struct {
		Title string `json:"title"`
	}
	_ = json.Unmarshal(schema, &s)
	return s.Title
}

// create writes a file that is not there yet.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
