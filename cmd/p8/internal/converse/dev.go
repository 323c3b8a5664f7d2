package converse

import (
	"os"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/documents"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/identity"
)

// Dev is p8 dev.
type Dev struct {
	Folder string `arg:"" optional:"" help:"Folder with agent documents (.yaml, .yml, .json, .md). Without it: P8_SCHEMA_DIR, or this folder."`

	Agent string `short:"a" help:"Agent to talk to (the first of the folder)."`
	Talk
}

// Run chats with the agents of a folder, and reports what changes in it.
func (c *Dev) Run(a *command.App) error {
	id, err := c.Caller.Identity(identity.Identity{SessionID: c.Session, AgentSchemaURI: c.Agent, DefaultModel: c.Model})
	if err != nil {
		return err
	}
	if c.Folder != "" {
		if info, err := os.Stat(c.Folder); err != nil || !info.IsDir() {
			return notFolder(c.Folder, err)
		}
		a.Folders.SchemaDir = c.Folder
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	if cfg.SchemaDir == "" {
		a.Folders.SchemaDir = "."
		if cfg, err = a.Config(); err != nil {
			return err
		}
	}
	o := c.options(a, cfg)
	o.Yields = true
	return c.open(a, cfg, id, o, func(t *turns.Runner, id identity.Identity) error {
		checker := documents.NewChecker(a)
		defer checker.Close()
		d, err := newDevelopment(t, cfg.SchemaDir, id.AgentSchemaURI, checker)
		if err != nil {
			return err
		}
		defer d.start(t.Ctx)()
		id.AgentSchemaURI = d.first()
		t.Ctx = identity.With(t.Ctx, id)
		if t.Screen != nil && show.IsTerminal(a.Stdin) {
			return startREPL(t, cfg, id, d)
		}
		return loop(t, id, d)
	})
}

// notFolder returns the error of a path that is no folder; err is that of finding it.
func notFolder(path string, err error) error {
	path = show.OneLine(path)
	switch {
	case os.IsNotExist(err):
		return command.Usage("there is no folder %s: `p8 init %s` makes it, with a first agent", path, path)
	case err == nil && catalog.IsDocument(path):
		return command.Usage("%s is a file: give its folder, or run `p8 chat %s`", path, path)
	}
	return command.Usage("%s is not a folder that can be read: give a folder with agent documents", path)
}
