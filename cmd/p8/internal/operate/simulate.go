package operate

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/simulator"
	"github.com/p8-org/p8/stream"
)

// Simulate is p8 simulate.
type Simulate struct {
	Prompt []string `arg:"" optional:"" help:"Message to the simulator; \"help\" to rem-simulator lists what it understands."`

	Agent    string `short:"a" enum:"simulator,rem-simulator" default:"simulator" help:"simulator plays the whole sequence, rem-simulator the part that the prompt names."`
	JSON     bool   `help:"Print every event as a line of JSON, as in a pipe."`
	Protocol string `help:"Print the bytes of a protocol: openai, responses, ag-ui, ai-sdk or events." placeholder:"NAME"`
	Format   string `help:"Form of typed events in the protocol openai: unnamed, polyglot (default), named, wrapped or none." placeholder:"NAME"`

	Delay       string `help:"Milliseconds between two events (50)." placeholder:"MS"`
	NoReasoning bool   `help:"Leave out the reasoning."`
	NoProgress  bool   `help:"Leave out the progress."`
	NoToolCalls bool   `help:"Leave out the tool calls."`
	NoActions   bool   `help:"Leave out the actions."`
	NoMetadata  bool   `help:"Leave out the metadata."`
	Children    bool   `help:"Add delegations to other agents."`
	Demo        string `help:"Play a demo instead: minimal (text only) or error (text that an error cuts off)." placeholder:"NAME"`
	ErrorAfter  string `help:"Words before the error of the error demo (10)." placeholder:"WORDS"`
	Seed        string `help:"Make ids from this text, the same each time." placeholder:"TEXT"`
}

// Run plays the script.
func (c *Simulate) Run(a *command.App) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	write, done, err := c.writer(a, o)
	if err != nil {
		return err
	}
	defer done()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for e, err := range simulator.Events(ctx, c.Agent, strings.Join(c.Prompt, " "), o) {
		var wrong *simulator.OptionError
		switch {
		case errors.As(err, &wrong):
			return command.Usage("%v", wrong)
		case err != nil:
			return command.Fail(command.ExitInterrupted, errors.New("stopped"))
		}
		if err := write(e); err != nil {
			return errors.New("the output cannot be written")
		}
	}
	return nil
}

// options parses the flags.
func (c *Simulate) options() (simulator.Options, error) {
	flags := map[string]string{
		"delay_ms": "--delay", "demo": "--demo", "error_after_words": "--error-after", "seed": "--seed",
	}
	given := map[string]string{}
	for name, value := range map[string]string{
		"delay_ms": c.Delay, "demo": c.Demo, "error_after_words": c.ErrorAfter, "seed": c.Seed,
	} {
		if value != "" {
			given[name] = value
		}
	}
	o, err := simulator.ParseOptions(given)
	var wrong *simulator.OptionError
	if errors.As(err, &wrong) {
		wrong.Name = flags[wrong.Name]
		return o, command.Usage("%v", wrong)
	}
	o.NoReasoning, o.NoProgress, o.NoToolCalls = c.NoReasoning, c.NoProgress, c.NoToolCalls
	o.NoActions, o.NoMetadata, o.Children = c.NoActions, c.NoMetadata, c.Children
	o.RunID = uuid.NewString()
	if c.Seed != "" {
		o.RunID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(c.Seed)).String()
	}
	return o, err
}

// writer returns a function that shows events: drawn on a terminal, as lines of JSON, or in
// a protocol.
func (c *Simulate) writer(a *command.App, o simulator.Options) (write func(event.Event) error, done func(), err error) {
	if c.Protocol == "" && c.Format == "" {
		if screen := turns.NewScreen(a); screen != nil && !c.JSON {
			write, done = turns.Draw(screen, c.Agent, simulator.Model)
			return write, done, nil
		}
		return turns.NewJSONPrinter(a.Stdout).Print, func() {}, nil
	}
	if c.JSON {
		return nil, nil, command.Usage("--json has no protocol: leave out --protocol and --format, or --json")
	}
	write, err = c.protocol(a.Stdout, o)
	return write, func() {}, err
}

// protocol returns a function that prints events in a protocol.
func (c *Simulate) protocol(w io.Writer, o simulator.Options) (func(event.Event) error, error) {
	protocol, err := stream.ParseProtocol(cmp.Or(c.Protocol, string(stream.ProtocolOpenAI)))
	if err != nil {
		return nil, command.Usage("--protocol: %v", err)
	}
	format, err := stream.ParseFormat(c.Format)
	if err != nil {
		return nil, command.Usage("--format: %v", err)
	}
	if c.Format != "" && protocol != stream.ProtocolOpenAI {
		return nil, command.Usage("--format belongs to the protocol openai: leave it out, or take --protocol openai")
	}
	return stream.New(protocol, w, stream.Options{
		OpenAI: stream.OpenAIOptions{
			ID: "chatcmpl-" + strings.ReplaceAll(o.RunID, "-", ""), Model: simulator.Model, Created: time.Now(), Format: format,
		},
		AGUI:  stream.AGUIOptions{ThreadID: simulator.Agent, RunID: o.RunID},
		AISDK: stream.AISDKOptions{MessageID: o.RunID},
	}).Write, nil
}
