package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/p8-org/p8/cmd/p8/internal/access"
	"github.com/p8-org/p8/cmd/p8/internal/account"
	"github.com/p8-org/p8/cmd/p8/internal/cases"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/completion"
	"github.com/p8-org/p8/cmd/p8/internal/converse"
	"github.com/p8-org/p8/cmd/p8/internal/documents"
	"github.com/p8-org/p8/cmd/p8/internal/evals"
	"github.com/p8-org/p8/cmd/p8/internal/knowledge"
	"github.com/p8-org/p8/cmd/p8/internal/operate"
	"github.com/p8-org/p8/cmd/p8/internal/people"
	"github.com/p8-org/p8/cmd/p8/internal/runs"
	"github.com/p8-org/p8/cmd/p8/internal/sessions"
	"github.com/p8-org/p8/cmd/p8/internal/tools"
)

// grammar is the command line.
type grammar struct {
	Help helpFlag `short:"h" help:"Show help for p8 or a command."`
	command.Folders

	Init  documents.Init `cmd:"" help:"Write a first agent into a folder." group:"Start" example:"p8 init my-agents"`
	Chat  converse.Chat  `cmd:"" help:"Talk to an agent, without a server." group:"Start" example:"p8 chat \"How do I write an agent?\""`
	Dev   converse.Dev   `cmd:"" help:"Talk to the agents of a folder while you write them." group:"Start" example:"p8 dev my-agents"`
	Serve operate.Serve  `cmd:"" help:"Run the server." group:"Start" example:"p8 serve --port 8080"`

	Upsert      knowledge.Upsert      `cmd:"" help:"Store files and folders as knowledge." group:"Knowledge" example:"p8 upsert examples/data"`
	Query       knowledge.Query       `cmd:"" help:"Query stored knowledge in the REM dialect." group:"Knowledge" example:"p8 query \"LOOKUP sarah-chen\""`
	Ask         knowledge.Ask         `cmd:"" help:"Query stored knowledge in plain words." group:"Knowledge" example:"p8 ask \"who reports to Sarah Chen?\""`
	VerifyLinks knowledge.VerifyLinks `cmd:"" help:"Check the links of a folder of Markdown files." group:"Knowledge" example:"p8 verify-links docs"`

	Schema   documents.Schema `cmd:"" help:"List, show, check and import agent documents." group:"Agents"`
	Tools    tools.Tools      `cmd:"" help:"List and try the tools that documents may name, those of MCP servers included." group:"Agents"`
	Test     cases.Test       `cmd:"" help:"Test agents by cases with recorded answers of models." group:"Agents" example:"p8 test my-agents"`
	Models   documents.Models `cmd:"" help:"List models with their windows and prices." group:"Agents" example:"p8 models claude"`
	Simulate operate.Simulate `cmd:"" help:"Play a scripted stream of events, without a model." group:"Agents" example:"p8 simulate --children"`

	Eval        evals.Eval        `cmd:"" help:"Run agents over datasets, judge their answers, and report." group:"Evaluation"`
	Experiments evals.Experiments `cmd:"" help:"Keep evaluations as files and run them again." group:"Evaluation"`

	Sessions  sessions.Sessions  `cmd:"" help:"List, show and delete sessions, and preview what a model is sent." group:"Sessions and memory"`
	Timeline  sessions.Timeline  `cmd:"" help:"Show the messages and moments of a session." group:"Sessions and memory" example:"p8 timeline trip"`
	Compact   sessions.Compact   `cmd:"" help:"Summarise a session since its last moment." group:"Sessions and memory" example:"p8 compact trip"`
	Moments   sessions.Moments   `cmd:"" help:"List, show, rate, change and delete moments." group:"Sessions and memory"`
	Today     sessions.Today     `cmd:"" help:"Show what happened today." group:"Sessions and memory" example:"p8 today --zone Europe/Oslo"`
	Feed      sessions.Feed      `cmd:"" help:"Show what happened, day by day." group:"Sessions and memory" example:"p8 feed --limit 7"`
	Feedback  sessions.Feedback  `cmd:"" help:"Rate answers, and list what people say about them." group:"Sessions and memory"`
	Dream     sessions.Dream     `cmd:"" help:"Make moments and dreams from the last days." group:"Sessions and memory" example:"p8 dream --dry-run"`
	Remind    sessions.Remind    `cmd:"" help:"Create a reminder, once or recurring." group:"Sessions and memory" example:"p8 remind \"Book the train\" 2027-04-15T09:00 --zone Europe/Oslo"`
	Reminders sessions.Reminders `cmd:"" help:"List and delete reminders." group:"Sessions and memory"`

	Approvals runs.Approvals `cmd:"" help:"List and answer approvals that runs wait for." group:"Runs"`
	Runs      runs.Runs      `cmd:"" help:"List, show, resume and stop runs." group:"Runs"`

	Trace runs.Trace `cmd:"" help:"Draw what happened in a session or a run: models, tools, asked agents, waits." group:"Runs" example:"p8 trace trip"`

	Login  account.Login  `cmd:"" help:"Sign in to a server, whose token other commands then send." group:"Operate" example:"p8 login https://agents.example.com"`
	Logout account.Logout `cmd:"" help:"Forget the login at a server." group:"Operate" example:"p8 logout"`
	Whoami account.Whoami `cmd:"" help:"Show who you are to a server." group:"Operate" example:"p8 whoami"`
	Me     people.Me      `cmd:"" help:"Give out or delete all data of a user." group:"Operate"`

	Keys  access.Keys  `cmd:"" help:"Make, list and revoke API keys." group:"Operate"`
	Users access.Users `cmd:"" help:"Manage users who log in with a password." group:"Operate"`
	Audit access.Audit `cmd:"" help:"Show who did what." group:"Operate" example:"p8 audit --since 7d --action auth.login"`

	MCP     operate.MCP     `cmd:"" name:"mcp" help:"Serve p8's tools to an MCP client on standard input and output." group:"Operate" example:"p8 mcp --user alice@example.com"`
	Config  operate.Config  `cmd:"" help:"Show each setting, its value and its origin." group:"Operate" example:"p8 config --json"`
	Doctor  operate.Doctor  `cmd:"" help:"Check the database and say how to fix it." group:"Operate" example:"p8 doctor"`
	Migrate operate.Migrate `cmd:"" help:"Migrate the database." group:"Operate" example:"p8 migrate"`
	DB      operate.DB      `cmd:"" name:"db" help:"Maintain the database." group:"Operate"`
	Jobs    operate.Jobs    `cmd:"" help:"List, retry and cancel background jobs." group:"Operate"`

	Secrets   operate.Secrets   `cmd:"" help:"Maintain the keys of stored secrets." group:"Operate"`
	Usage     operate.Usage     `cmd:"" help:"Show what models consumed: tokens, money, time." group:"Operate" example:"p8 usage --by user,model --since 7d"`
	Quota     operate.Quota     `cmd:"" help:"Show and set what tenants, users and keys may use." group:"Operate"`
	Retention operate.Retention `cmd:"" help:"Show and set how long tenants keep their data." group:"Operate"`

	HelpCmd    helpCmd               `cmd:"" name:"help" help:"Show help for a command, or what p8's manual has about a question." group:"Help" example:"p8 help how do I write an agent"`
	Completion completion.Completion `cmd:"" help:"Print a shell completion script." group:"Help" example:"p8 completion bash"`
	Version    operate.Version       `cmd:"" help:"Show the version." group:"Help" example:"p8 version"`
	Complete   completion.Complete   `cmd:"" name:"complete" hidden:"" passthrough:""`
}

// run runs one command line and returns the exit code.
func run(args []string, stdin *os.File, stdout, stderr io.Writer, environ []string) int {
	a := &command.App{Stdin: stdin, Stdout: stdout, Stderr: stderr, Environ: environ}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "--version": // as in other tools
		args[0] = "version"
	}
	if err := dispatch(a, args); err != nil {
		return a.Report(err)
	}
	return command.ExitOK
}

type helpFlag bool

// IgnoreDefault keeps kong from choosing a default command: the help is that of the group.
func (helpFlag) IgnoreDefault() {}

type helpCmd struct {
	Command []string `arg:"" optional:"" name:"command or question" help:"A command such as chat or schema show, a page of the manual such as docs/search, or a question such as how do I write an agent."`
}

// Run is `p8 COMMAND --help`, a page of the manual, or the pages about a question.
func (c *helpCmd) Run(a *command.App) error {
	words := strings.Fields(strings.Join(c.Command, " "))
	isCommand := len(words) == 0 || slices.ContainsFunc(a.Grammar.Children, func(n *kong.Node) bool { return n.Name == words[0] })
	if len(words) == 1 && !isCommand {
		if p, ok := knowledge.Page(words[0]); ok {
			_, err := io.WriteString(a.Stdout, p.Text)
			return err
		}
	}
	if isCommand || len(words) == 1 {
		return dispatch(a, append(c.Command, "--help"))
	}
	return knowledge.AnswerFromManual(context.Background(), a, strings.Join(words, " "))
}
