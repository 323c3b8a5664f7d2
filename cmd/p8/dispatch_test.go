package main

import (
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/p8-org/p8/cmd/p8/internal/command"
)

// TestGrammar finds commands that do not run, and uses of kong that dispatch ignores.
func TestGrammar(t *testing.T) {
	parser, err := newParser(&command.App{Stdout: io.Discard, Stderr: io.Discard}, new(grammar))
	if err != nil {
		t.Fatal(err)
	}
	testNode(t, parser.Model.Node)
	testShort(t, parser.Model.Node, map[rune]string{})
	testLeaves(t, parser.Model.Node)
}

// testShort finds a short flag with two meanings.
func testShort(t *testing.T, n *kong.Node, long map[rune]string) {
	for _, f := range n.Flags {
		if f.Short == 0 {
			continue
		}
		if first := long[f.Short]; first != "" && first != f.Name {
			t.Errorf("%s: -%c is --%s here, and --%s elsewhere", n.FullPath(), f.Short, f.Name, first)
		}
		long[f.Short] = f.Name
	}
	for _, child := range n.Children {
		testShort(t, child, long)
	}
}

// textOnly are the commands that print no data, so have no --json.
var textOnly = []string{
	"p8 serve", "p8 mcp", "p8 dev", "p8 init", "p8 help", "p8 completion", "p8 migrate", "p8 db rebuild-keys", "p8 schema spec", "p8 schema import", "p8 schema rollback", "p8 secrets encrypt", "p8 schema convert",
	"p8 sessions title", "p8 sessions unshare", "p8 sessions delete", "p8 moments delete", "p8 reminders delete", "p8 jobs retry", "p8 jobs cancel",
	"p8 users password", "p8 users remove", "p8 quota set", "p8 quota remove", "p8 retention set", "p8 retention remove", "p8 secrets rotate", "p8 me export",
	"p8 feedback delete", "p8 eval delete", "p8 eval dataset from-sessions", "p8 eval dataset about", "p8 experiments create", "p8 experiments export",
}

// testLeaves finds commands without an example that p8 takes, or without --json.
func testLeaves(t *testing.T, n *kong.Node) {
	for _, child := range n.Children {
		testLeaves(t, child)
	}
	if len(n.Children) > 0 || n.Hidden {
		return
	}
	asJSON := slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "json" })
	if text := slices.Contains(textOnly, n.FullPath()); asJSON == text {
		t.Errorf("%s: --json is %v", n.FullPath(), asJSON)
	}
	example := n.Tag.Get("example")
	if !strings.HasPrefix(example, n.FullPath()) {
		t.Errorf("%s: the example is %q", n.FullPath(), example)
		return
	}
	parser, err := newParser(&command.App{Stdout: io.Discard, Stderr: io.Discard}, new(grammar))
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(example, -1)[1:]
	ctx, err := kong.Trace(parser, words)
	if err == nil && ctx.Error == nil {
		if _, err = ctx.Apply(); err == nil {
			err = check(ctx)
		}
	}
	if err != nil || ctx.Error != nil {
		t.Errorf("%s: %v, %v", example, err, ctx.Error)
	}
}

func testNode(t *testing.T, n *kong.Node) {
	if _, runs := n.Target.Addr().Interface().(runner); runs != (len(n.Children) == 0) {
		t.Errorf("%s: Run is %v, with %d subcommands", n.FullPath(), runs, len(n.Children))
	}
	if n.Argument != nil {
		t.Errorf("%s has subcommands after an argument", n.FullPath())
	}
	testHooks(t, n.FullPath(), n.Target)
	for _, f := range n.Flags {
		if f.Required || len(f.And)+len(f.LastWins) > 0 {
			t.Errorf("%s --%s is required, or in a group other than xor", n.FullPath(), f.Name)
		}
	}
	for _, v := range n.Values() {
		if v.Enum != "" && v.Target.Kind() != reflect.String {
			t.Errorf("%s: %s enumerates values of %s", n.FullPath(), v.Summary(), v.Target.Kind())
		}
		if len(v.Tag.Envs) > 0 {
			t.Errorf("%s: %s is read from the environment", n.FullPath(), v.Summary())
		}
		testHooks(t, n.FullPath()+" "+v.Name, v.Target)
	}
	for _, child := range n.Children {
		testNode(t, child)
	}
}

func testHooks(t *testing.T, name string, target reflect.Value) {
	for _, hook := range []string{"BeforeReset", "BeforeResolve", "BeforeApply", "AfterApply", "AfterRun", "Validate"} {
		if target.Addr().MethodByName(hook).IsValid() {
			t.Errorf("%s: nothing calls its method %s", name, hook)
		}
	}
}
