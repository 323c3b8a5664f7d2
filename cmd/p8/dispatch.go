package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/p8-org/p8/cmd/p8/internal/command"
)

// runner is a command.
type runner interface{ Run(a *command.App) error }

// dispatch parses a command line and runs its command.
//
// It calls neither Parse, Validate nor Run of kong: they look up methods by names that are
// no constants, for which the linker keeps every exported method in the program, 4 MB.
func dispatch(a *command.App, args []string) error {
	var g grammar
	parser, err := newParser(a, &g)
	if err != nil {
		return err
	}
	ctx, err := kong.Trace(parser, args)
	if err != nil {
		return err
	}
	if ctx.Error != nil {
		return misused(ctx, ctx.Error)
	}
	if slices.ContainsFunc(ctx.Path, isHelp) {
		return ctx.PrintUsage(false)
	}
	if err := ctx.Reset(); err != nil { // to the defaults
		return misused(ctx, err)
	}
	if _, err := ctx.Apply(); err != nil {
		return misused(ctx, err)
	}
	if err := check(ctx); err != nil {
		return misused(ctx, err)
	}
	a.Grammar, a.Folders = ctx.Model.Node, g.Folders
	return ctx.Selected().Target.Addr().Interface().(runner).Run(a)
}

func newParser(a *command.App, g *grammar) (*kong.Kong, error) {
	return kong.New(g, kong.Name("p8"), kong.NoDefaultHelp(),
		kong.Description("p8 turns documents into agents."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Writers(a.Stdout, a.Stderr))
}

func isHelp(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "help" }

// misused returns the error of a command line, which names the help for what was typed.
func misused(ctx *kong.Context, err error) error {
	help := "p8 help"
	if node := ctx.Selected(); node != nil {
		help = node.FullPath() + " --help"
	}
	return command.Usage("%v: run %q", err, help)
}

// check returns an error if a value is not in its enumeration, an argument or a subcommand
// is missing, or flags exclude each other. The grammar has no other rules.
func check(ctx *kong.Context) error {
	for _, p := range ctx.Path {
		value := p.Positional
		if p.Flag != nil {
			value = p.Flag.Value
		}
		if err := checkEnum(value); err != nil {
			return err
		}
	}
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	if missing := missing(node); len(missing) == 1 {
		return fmt.Errorf("expected %s", missing[0])
	} else if len(missing) > 1 {
		return fmt.Errorf("expected one of %s", strings.Join(missing, ", "))
	}
	return checkExclusive(ctx.Flags())
}

func checkEnum(v *kong.Value) error {
	if v == nil || v.Enum == "" {
		return nil
	}
	var names []string
	for _, name := range v.EnumSlice() {
		if name == v.Target.String() {
			return nil
		}
		names = append(names, strconv.Quote(name))
	}
	return fmt.Errorf("%s must be one of %s but got %q", v.ShortSummary(), strings.Join(names, ","), v.Target)
}

// missing returns the arguments or the subcommands of which one must follow, at most five.
func missing(node *kong.Node) []string {
	const most = 5
	var names []string
	for _, v := range node.Positional {
		if v.Required && !v.Set {
			names = append(names, v.Summary())
		}
	}
	if len(names) > 0 {
		return []string{strconv.Quote(strings.Join(names, " "))}
	}
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, strconv.Quote(child.Name))
		}
	}
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return names
}

// checkExclusive returns an error if two flags of a group are set.
func checkExclusive(flags []*kong.Flag) error {
	first := map[string]*kong.Flag{}
	for _, f := range flags {
		if !f.Set {
			continue
		}
		for _, group := range f.Xor {
			if other := first[group]; other != nil {
				return fmt.Errorf("--%s and --%s can't be used together", other.Name, f.Name)
			}
			first[group] = f
		}
	}
	return nil
}
