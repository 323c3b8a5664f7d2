// Package completion completes p8's commands in a shell. The scripts that it prints
// call `p8 complete`, which follows the words on the command line through kong's
// model of the commands, so commands and flags need no second list.
package completion

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/arrange"
)

// Completion is p8 completion.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script, which calls p8 complete.
func (c *Completion) Run(a *command.App) error {
	_, err := io.WriteString(a.Stdout, completionScript(c.Shell))
	return err
}

func completionScript(shell string) string {
	switch shell {
	case "bash":
		return `# p8 completion for bash: source <(p8 completion bash)
_p8() {
  local IFS=$'\n'
  COMPREPLY=($(p8 complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "${COMP_WORDS[COMP_CWORD]}" 2>/dev/null | cut -f1))
  [ ${#COMPREPLY[@]} -eq 0 ] && compopt -o default 2>/dev/null
}
complete -F _p8 p8
`
	case "zsh":
		return `#compdef p8
# p8 completion for zsh: source <(p8 completion zsh)
_p8() {
  local line values=()
  for line in "${(@f)$(p8 complete "${(@)words[2,CURRENT-1]}" "${words[CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && values+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if (( ${#values} )); then _describe p8 values; else _files; fi
}
compdef _p8 p8
`
	}
	return `# p8 completion for fish: p8 completion fish | source
function __p8_complete
  set -l words (commandline -opc)
  p8 complete $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c p8 -a '(__p8_complete)'
`
}

// Complete is p8 complete, which the scripts call with the words up to the cursor.
type Complete struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints the words that fit the last one, a line each, with their help after a tab.
func (c *Complete) Run(a *command.App) error {
	words := c.Words
	if len(words) == 0 {
		words = []string{""}
	}
	node, value, rest := walk(a.Grammar, words[:len(words)-1])
	typed := words[len(words)-1]
	for _, w := range fitting(a, node, value, typed, rest) {
		if strings.HasPrefix(w.Text, typed) {
			fmt.Fprintf(a.Stdout, "%s\t%s\n", w.Text, show.Flat(w.Help))
		}
	}
	return nil
}

// walk follows the words to the command that they name. waits is the flag whose value comes
// next, nil if none; arguments is the number of arguments so far.
func walk(node *kong.Node, words []string) (at *kong.Node, waits *kong.Value, arguments int) {
	for _, w := range words {
		switch {
		case waits != nil:
			waits = nil
		case strings.HasPrefix(w, "-"):
			if f := flagNamed(node, w); f != nil && !f.IsBool() && !strings.Contains(w, "=") {
				waits = f.Value
			}
		default:
			if next := childNamed(node, w); next != nil {
				node, arguments = next, 0
				continue
			}
			arguments++
		}
	}
	return node, waits, arguments
}

func childNamed(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

func flagNamed(node *kong.Node, name string) *kong.Flag {
	name, _, _ = strings.Cut(name, "=")
	for _, flags := range node.AllFlags(true) {
		for _, f := range flags {
			if "--"+f.Name == name || f.Short != 0 && "-"+string(f.Short) == name {
				return f
			}
		}
	}
	return nil
}

// fitting returns the words that are possible at the cursor.
func fitting(a *command.App, node *kong.Node, waits *kong.Value, typed string, arguments int) []Word {
	if waits != nil {
		return values(a, waits)
	}
	if strings.HasPrefix(typed, "-") {
		if name, _, ok := strings.Cut(typed, "="); ok {
			f := flagNamed(node, name)
			if f == nil {
				return nil
			}
			list := values(a, f.Value)
			for i := range list {
				list[i].Text = name + "=" + list[i].Text
			}
			return list
		}
		return flagsOf(node)
	}
	var list []Word
	for _, child := range node.Children {
		if !child.Hidden {
			list = append(list, Word{child.Name, child.Help})
		}
	}
	if i := min(arguments, len(node.Positional)-1); i >= 0 && node.Type == kong.CommandNode {
		list = append(list, values(a, node.Positional[i])...)
	}
	return list
}

// flagsOf returns the flags of a command and of its default subcommand.
func flagsOf(node *kong.Node) []Word {
	var list []Word
	nodes := []*kong.Node{node}
	if node.DefaultCmd != nil {
		nodes = append(nodes, node.DefaultCmd)
	}
	for _, n := range nodes {
		for _, flags := range n.AllFlags(true) {
			for _, f := range flags {
				if w := (Word{"--" + f.Name, f.Help}); !slices.Contains(list, w) {
					list = append(list, w)
				}
			}
		}
	}
	arrange.By(list, func(x, y Word) int { return cmp.Compare(x.Text, y.Text) })
	return list
}

// values returns the values of a flag or an argument: its enumeration, or names from the
// database.
func values(a *command.App, v *kong.Value) []Word {
	if v.Enum != "" {
		var list []Word
		for name := range strings.SplitSeq(v.Enum, ",") {
			list = append(list, Word{Text: strings.TrimSpace(name)})
		}
		return list
	}
	switch v.Name {
	case "agent":
		return agentWords(a)
	case "session":
		return sessionWords(a)
	case "moment":
		return momentWords(a)
	}
	return nil
}
