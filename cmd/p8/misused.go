package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/internal/near"
)

// misused returns the error of a command line, which names the help for what was typed.
func misused(ctx *kong.Context, err error) error {
	help, node := "p8 help", ctx.Model.Node
	if selected := ctx.Selected(); selected != nil {
		help, node = selected.FullPath()+" --help", selected
	}
	problem := err.Error()
	if begin, _, found := strings.Cut(problem, ", did you mean "); found && strings.HasPrefix(begin, unexpected) {
		problem = begin
		if similar := near.Word(begin[len(unexpected):], commandNames(node)); similar != "" {
			problem += fmt.Sprintf(", did you mean %q?", similar)
		}
	}
	return command.Usage("%s: run %q", plainly(problem), help)
}

// unexpected begins kong's error of a word that is no command.
const unexpected = "unexpected argument "

func commandNames(n *kong.Node) []string {
	var names []string
	for _, child := range n.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}

// plainly says in plain words what kong says in Go's.
func plainly(problem string) string {
	for _, w := range wordings() {
		if w.kong.MatchString(problem) {
			return w.kong.ReplaceAllString(problem, w.plain)
		}
	}
	return problem
}

type wording struct {
	kong  *regexp.Regexp
	plain string
}

func wordings() []wording {
	return []wording{
		{regexp.MustCompile(`^(\S+): expected \S+ value but got .*; perhaps try (.*)\?$`), `$1 needs a value; if it begins with a dash, write $2`},
		{regexp.MustCompile(`^(\S+): expected \S+ value but got .*$`), `$1 needs a value`},
		{regexp.MustCompile(`^(\S+): expected (?:a valid \d+ bit u?int|an int|a float) but got (".*?").*$`), `$1 is $2, which is not a number`},
		{regexp.MustCompile(`^(\S+): expected duration but got (".*?").*$`), `$1 is $2, which is no duration such as 30s, 5m or 36h`},
		{regexp.MustCompile(`^(\S+): bool value must be .*$`), `$1 takes no value, or true or false`},
		{regexp.MustCompile(`^(unknown flag -[^-]), did you mean .*$`), `$1`}, // every letter is near
		{regexp.MustCompile(`^(.*), did you mean one of (.*)\?$`), `$1, did you mean $2?`},
	}
}

// either lists alternatives: "a, b or c".
func either(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return fmt.Sprintf("%s or %s", strings.Join(list[:last], ", "), list[last])
}
