// Package command is what all commands of p8 share: their input and output, the
// settings, the flags that name a user, mistakes and exit codes, and the log.
//
// A command is a struct whose fields are its flags and arguments, as kong reads
// them, with a method Run(*command.App) error. Run prints the result to Stdout;
// everything else, from progress to the error that it returns, goes to Stderr.
package command

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/p8-org/p8/internal/config"
)

// App is one invocation of p8.
type App struct {
	Stdin   *os.File
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	// Grammar has all commands, for completion.
	Grammar *kong.Node
	// Folders are the flags that every command has.
	Folders Folders
	// warned: the misspelt settings were reported.
	warned bool
}

// Folders are the folders of an invocation.
type Folders struct {
	DataDir   string `help:"Folder of the embedded database (P8_DATA_DIR)." placeholder:"FOLDER"`
	SchemaDir string `help:"Folder with agent documents (P8_SCHEMA_DIR)." placeholder:"FOLDER"`
}

// Getenv returns a variable of the environment, "" if it is not set.
func (a *App) Getenv(name string) string {
	for _, v := range a.Environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Config loads the settings. Flags override the environment.
func (a *App) Config(flags ...config.Flag) (*config.Config, error) {
	flags = append(flags,
		config.Flag{Env: "P8_DATA_DIR", Name: "--data-dir", Value: a.Folders.DataDir},
		config.Flag{Env: "P8_SCHEMA_DIR", Name: "--schema-dir", Value: a.Folders.SchemaDir})
	given := flags[:0]
	for _, f := range flags {
		if f.Value != "" {
			given = append(given, f)
		}
	}
	c, err := config.Load(config.Options{Environ: a.Environ, DotEnv: ".env", Flags: given})
	if err != nil {
		return nil, Fail(ExitUsage, err)
	}
	return c, nil
}

// Stored loads the settings of a command that needs a database.
func (a *App) Stored() (*config.Config, error) {
	cfg, err := a.Config()
	if err == nil && cfg.Database().None {
		err = errors.New("nothing is stored, as P8_DATABASE_URL is none: unset it")
	}
	return cfg, err
}

// WarnMisspelt reports P8_ variables that are almost settings, once. Every command does,
// also one that reads no settings. It leaves bad values to the command that reads them.
func (a *App) WarnMisspelt() {
	cfg, err := a.Config()
	if err != nil || a.warned {
		return
	}
	a.warned = true
	for _, u := range cfg.Unknown() {
		if u.Near != "" {
			a.Say("warning: %s is not a setting; did you mean %s?", u.Name, u.Near)
		}
	}
}

// WarnUnknown reports the other P8_ variables that are not settings. They may be another
// program's, so only some commands report them.
func (a *App) WarnUnknown(cfg *config.Config) {
	for _, u := range cfg.Unknown() {
		if u.Near == "" {
			a.Say("warning: %s is not a setting: `p8 config` lists the settings", u.Name)
		}
	}
}
