package main

import (
	"io"
	"reflect"
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
