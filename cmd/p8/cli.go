package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/p8-org/p8/internal/config"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// grammar is the command line.
type grammar struct {
	Help helpFlag `short:"h" help:"Show help, for a command its flags."`

	Serve       serveCmd       `cmd:"" help:"Run the server."`
	Chat        chatCmd        `cmd:"" help:"Talk to an agent, without a server."`
	Simulate    simulateCmd    `cmd:"" help:"Play a scripted stream of events, without a model."`
	MCP         mcpCmd         `cmd:"" name:"mcp" help:"Offer the tools to an MCP client on standard input and output."`
	Query       queryCmd       `cmd:"" help:"Ask what is stored, in the REM dialect."`
	Ask         askCmd         `cmd:"" help:"Ask what is stored, in plain words."`
	Upsert      upsertCmd      `cmd:"" help:"Take files and folders in as knowledge."`
	VerifyLinks verifyLinksCmd `cmd:"" help:"Check the links of a folder of Markdown files."`
	Schema      schemaCmd      `cmd:"" help:"List, show, check and import agent documents."`
	Sessions    sessionsCmd    `cmd:"" help:"List, show and delete stored sessions, and what a model is sent of them."`
	Moments     momentsCmd     `cmd:"" help:"List, show, rate, change and delete moments."`
	Today       todayCmd       `cmd:"" help:"Show what happened today."`
	Feed        feedCmd        `cmd:"" help:"Show what happened, day by day."`
	Timeline    timelineCmd    `cmd:"" help:"Show the messages and moments of a session."`
	Compact     compactCmd     `cmd:"" help:"Sum up what a session has said since its last moment."`
	Dream       dreamCmd       `cmd:"" help:"Make moments and dreams of the last days."`
	Remind      remindCmd      `cmd:"" help:"Be reminded of something, once or again and again."`
	Reminders   remindersCmd   `cmd:"" help:"List and delete reminders."`
	Approvals   approvalsCmd   `cmd:"" help:"List and answer what runs ask their user."`
	Runs        runsCmd        `cmd:"" help:"List, show, resume and stop runs."`
	Tools       toolsCmd       `cmd:"" help:"List the tools that documents may name, MCP servers asked."`
	Models      modelsCmd      `cmd:"" help:"List models with their windows and prices."`
	Jobs        jobsCmd        `cmd:"" help:"List, retry and cancel background jobs."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the database up to date."`
	Doctor      doctorCmd      `cmd:"" help:"Say what the database lacks and how to mend it."`
	DB          dbCmd          `cmd:"" name:"db" help:"Maintain the database."`
	Config      configCmd      `cmd:"" help:"Show every setting and where it comes from."`
	Completion  completionCmd  `cmd:"" help:"Print what makes a shell complete p8's commands."`
	Complete    completeCmd    `cmd:"" name:"complete" hidden:"" passthrough:""`
	Version     versionCmd     `cmd:"" help:"Show the version."`
	HelpCmd     helpCmd        `cmd:"" name:"help" help:"Show help."`
}

// app is one invocation: what it reads and writes.
type app struct {
	stdin   *os.File
	stdout  io.Writer
	stderr  io.Writer
	environ []string
}

// run runs one command line and returns the exit code.
func run(args []string, stdin *os.File, stdout, stderr io.Writer, environ []string) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, environ: environ}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "--version": // as other tools have it
		args[0] = "version"
	}
	err := a.dispatch(args)
	if err == nil || errors.Is(err, errHelp) {
		return exitOK
	}
	return a.report(err)
}

func (a *app) dispatch(args []string) error {
	parser, err := kong.New(&grammar{}, kong.Name("p8"), kong.NoDefaultHelp(),
		kong.Description("p8 turns documents into agents."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Writers(a.stdout, a.stderr), kong.Bind(a))
	if err != nil {
		return err
	}
	ctx, err := parser.Parse(args)
	if errors.Is(err, errHelp) {
		return err
	}
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		return usage("%v: run %q", err, helpFor(parse.Context))
	}
	if err != nil {
		return err
	}
	return ctx.Run()
}

// helpFor is the command that explains what was typed.
func helpFor(ctx *kong.Context) string {
	if ctx != nil {
		if node := ctx.Selected(); node != nil {
			return node.FullPath() + " --help"
		}
	}
	return "p8 help"
}

// getenv is a variable of the environment.
func (a *app) getenv(name string) string {
	for _, v := range a.environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// config loads the settings; flags are those of the verb.
func (a *app) config(flags ...config.Flag) (*config.Config, error) {
	given := flags[:0]
	for _, f := range flags {
		if f.Value != "" {
			given = append(given, f)
		}
	}
	c, err := config.Load(config.Options{Environ: a.environ, DotEnv: ".env", Flags: given})
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return c, nil
}

// errHelp says that help was asked for and shown.
var errHelp = errors.New("help")

type helpFlag bool

// BeforeReset shows the help of the command typed so far.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errHelp
}

// IgnoreDefault keeps kong from printing a default.
func (helpFlag) IgnoreDefault() {}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"A command, such as chat or schema show."`
}

// Run is `p8 COMMAND --help`.
func (c *helpCmd) Run(a *app) error { return a.dispatch(append(c.Command, "--help")) }

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage is a mistake on the command line.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// errSilent fails without another word: everything was said already.
var errSilent = errors.New("failed")
