package main

import (
	"fmt"
	"slices"
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
	ctx, err := kong.Trace(parser, flagsFirst(parser.Model.Node, args))
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
	if !ctx.Selected().Hidden { // shells call the hidden one while a person types
		a.WarnMisspelt()
	}
	return ctx.Selected().Target.Addr().Interface().(runner).Run(a)
}

func newParser(a *command.App, g *grammar) (*kong.Kong, error) {
	parser, err := kong.New(g, kong.Name("p8"), kong.NoDefaultHelp(),
		kong.Description("p8 turns documents into agents."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Writers(a.Stdout, a.Stderr))
	if err != nil {
		return nil, err
	}
	addExamples(parser.Model.Node)
	return parser, nil
}

// addExamples puts the examples of the grammar into the help.
func addExamples(n *kong.Node) {
	if n.Tag != nil && n.Tag.Has("example") {
		n.Detail = "Example:\n\n    " + n.Tag.Get("example")
	}
	for _, child := range n.Children {
		addExamples(child)
	}
}

func isHelp(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "help" }

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
	if err := checkMissing(node); err != nil {
		return err
	}
	return checkExclusive(ctx.Flags())
}

func checkEnum(v *kong.Value) error {
	if v == nil || v.Enum == "" {
		return nil
	}
	if slices.Contains(v.EnumSlice(), v.Target.String()) {
		return nil
	}
	return fmt.Errorf("%s is %q: give %s", v.ShortSummary(), v.Target, either(v.EnumSlice()))
}

// checkMissing returns an error if arguments or a subcommand must follow.
func checkMissing(node *kong.Node) error {
	var names []string
	for _, v := range node.Positional {
		if v.Required && !v.Set {
			names = append(names, v.Summary())
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("%s is missing", strings.Join(names, " "))
	}
	if names = commandNames(node); len(names) > 0 {
		return fmt.Errorf("a subcommand is missing: %s", either(names))
	}
	return nil
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
				return fmt.Errorf("--%s and --%s cannot be used together", other.Name, f.Name)
			}
			first[group] = f
		}
	}
	return nil
}
