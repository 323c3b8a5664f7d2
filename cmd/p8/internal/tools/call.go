package tools

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// Call is p8 tools call.
type Call struct {
	Tool      string   `arg:"" help:"Name of the tool, or SERVER/NAME."`
	Arguments []string `arg:"" optional:"" help:"A JSON object, key=value pairs, or - for a JSON object in stdin."`
	Server    string   `help:"MCP server of the tool: its name, address or command line; local, the default, is p8." placeholder:"SERVER"`
	Yes       bool     `short:"y" help:"Call a tool that acts without asking first."`
	Answer    string   `help:"Answer to each question of the tool, a JSON object; without it, p8 asks on the terminal." placeholder:"JSON"`
	command.Caller
	JSON bool `help:"Print the result as JSON."`
}

// Run calls the tool and prints its result.
func (c *Call) Run(a *command.App) error {
	if server, name, ok := strings.Cut(c.Tool, "/"); ok && c.Server == "" {
		c.Server, c.Tool = server, name
	}
	if c.Server == "" {
		c.Server = localTools
	}
	answer, err := c.answer()
	if err != nil {
		return err
	}
	who, err := c.Context()
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(who, os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := a.QuietLogger(cfg)
	tools, done, err := c.tools(ctx, cfg, log)
	if err != nil {
		return stopped(ctx, err)
	}
	defer done()
	t, err := c.find(tools)
	if err != nil {
		return err
	}
	call := tool.Call{ID: "cli", Name: t.Spec().Name}
	if call.Arguments, err = argumentsOf(c.Arguments, a.Stdin, t.Spec()); err != nil {
		return err
	}
	if err := c.check(ctx, t, call); err != nil {
		return stopped(ctx, err)
	}
	p := newPerson(a, answer, isStdin(c.Arguments))
	if err := c.confirm(ctx, p, t, call); err != nil {
		return stopped(ctx, err)
	}
	limit := cfg.ToolTimeout
	if p.present() {
		limit = longest
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := invoke(tool.WithAsker(ctx, p), a, t, call)
	if err != nil {
		return stopped(ctx, errors.New(c.Tool+": "+tool.Describe(ctx, log, call, err)))
	}
	return c.print(a, res)
}

// longest bounds a call during which a person may be asked.
const longest = time.Hour

// stopped returns the error of a signal if there was one, else err.
func stopped(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return command.Fail(command.ExitInterrupted, errors.New("stopped"))
	}
	return err
}

// answer returns the answer of the command line, nil for none.
func (c *Call) answer() (json.RawMessage, error) {
	if c.Answer == "" {
		return nil, nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Answer), &object) != nil || object == nil {
		return nil, command.Usage(`--answer is no JSON object: give one such as '{"answer":"yes"}'`)
	}
	return json.RawMessage(c.Answer), nil
}

// tools returns the tools of the server. done closes what they need.
func (c *Call) tools(ctx context.Context, cfg *config.Config, log *slog.Logger) (tools []tool.Tool, done func(), err error) {
	if c.Server == localTools {
		p, err := wiring.Open(ctx, cfg, wiring.Options{Log: log, Yields: true})
		if err != nil {
			return nil, nil, err
		}
		own := p.Own()
		if unknown := indexOf(own, c.Tool) < 0; unknown && !p.Keeps && slices.Contains(builtin.Names(), c.Tool) {
			p.Close()
			return nil, nil, errors.New(c.Tool + " cannot be called now: it needs the database, which another p8 has, or P8_DATABASE_URL is none")
		}
		return own, p.Close, nil
	}
	s, err := openServers(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	if err = s.check(c.Server); err == nil {
		tools, err = s.toolsOf(ctx, c.Server)
	}
	if err != nil {
		_ = s.Close()
		return nil, nil, err
	}
	return tools, func() { _ = s.Close() }, nil
}

func indexOf(tools []tool.Tool, name string) int {
	return slices.IndexFunc(tools, func(t tool.Tool) bool { return tool.OriginalName(t) == name || t.Spec().Name == name })
}

// find returns the tool; a usage error names similar ones.
func (c *Call) find(tools []tool.Tool) (tool.Tool, error) {
	if i := indexOf(tools, c.Tool); i >= 0 {
		return tools[i], nil
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = tool.OriginalName(t)
	}
	where, list := "p8", "p8 tools list local"
	if c.Server != localTools {
		where, list = "the MCP server "+c.Server, "p8 tools list --server "+c.Server
	}
	hint := "run `" + list + "`"
	if similar := near.Names(c.Tool, names, 3); len(similar) > 0 {
		hint = "did you mean " + strings.Join(similar, " or ") + "?"
	}
	return nil, command.Usage("%s has no tool %q: %s", where, show.OneLine(c.Tool), hint)
}

// check returns a usage error for wrong arguments.
func (c *Call) check(ctx context.Context, t tool.Tool, call tool.Call) error {
	if err := checkNames(c.Tool, call.Arguments, t.Spec()); err != nil {
		return err
	}
	err := tool.Validate(ctx, t, call.Arguments)
	var known *tool.Error
	if errors.As(err, &known) {
		return command.Usage("%s: %s", c.Tool, known.Message)
	}
	return err
}

// confirm asks before a call of a tool that acts.
func (c *Call) confirm(ctx context.Context, p *person, t tool.Tool, call tool.Call) error {
	if c.Yes || tool.AnnotationsOf(t).ReadOnly {
		return nil
	}
	if !p.present() {
		return command.Usage("%s may change something: add --yes to call it without being asked", c.Tool)
	}
	call.Name = c.Tool
	switch ok, err := p.confirm(ctx, "Call "+tool.InWords(call)+"?"); {
	case err != nil:
		return err
	case !ok:
		return errors.New(c.Tool + " was not called")
	}
	return nil
}

// invoke calls the tool and shows its progress.
func invoke(ctx context.Context, a *command.App, t tool.Tool, call tool.Call) (tool.Result, error) {
	streamer, ok := t.(tool.Streamer)
	if !ok {
		return t.Call(ctx, call)
	}
	return streamer.Stream(ctx, call, func(e event.Event) bool {
		if d, ok := e.Data.(*event.ProgressData); ok {
			a.Say("%s", show.OneLine(inWords(d)))
		}
		return ctx.Err() == nil
	})
}
