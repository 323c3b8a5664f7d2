package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/store"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script: it asks p8 itself what fits.
func (c *completionCmd) Run(a *app) error {
	_, err := io.WriteString(a.stdout, completionScript(c.Shell))
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

// completeCmd is what the scripts call: the words before the cursor, and the one at it.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints what fits, a line each, with its help behind a tab.
func (c *completeCmd) Run(a *app) error {
	parser, err := kong.New(&grammar{}, kong.Name("p8"), kong.NoDefaultHelp())
	if err != nil {
		return err
	}
	words := c.Words
	if len(words) == 0 {
		words = []string{""}
	}
	node, value, rest := walk(parser.Model.Node, words[:len(words)-1])
	typed := words[len(words)-1]
	for _, w := range a.fitting(node, value, typed, rest) {
		if strings.HasPrefix(w.text, typed) {
			fmt.Fprintf(a.stdout, "%s\t%s\n", w.text, flat(w.help))
		}
	}
	return nil
}

// word is something that may be typed.
type word struct{ text, help string }

// walk follows the words to the command that they name: the flag that waits for its
// value, nil for none, and how many arguments there are.
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

// fitting are the words that may stand where the cursor is.
func (a *app) fitting(node *kong.Node, waits *kong.Value, typed string, arguments int) []word {
	if waits != nil {
		return a.values(waits)
	}
	if strings.HasPrefix(typed, "-") {
		if name, _, ok := strings.Cut(typed, "="); ok {
			f := flagNamed(node, name)
			if f == nil {
				return nil
			}
			list := a.values(f.Value)
			for i := range list {
				list[i].text = name + "=" + list[i].text
			}
			return list
		}
		return flagsOf(node)
	}
	var list []word
	for _, child := range node.Children {
		if !child.Hidden {
			list = append(list, word{child.Name, child.Help})
		}
	}
	if i := min(arguments, len(node.Positional)-1); i >= 0 && node.Type == kong.CommandNode {
		list = append(list, a.values(node.Positional[i])...)
	}
	return list
}

// flagsOf are a command's flags, and those of the command that stands for it.
func flagsOf(node *kong.Node) []word {
	var list []word
	nodes := []*kong.Node{node}
	if node.DefaultCmd != nil {
		nodes = append(nodes, node.DefaultCmd)
	}
	for _, n := range nodes {
		for _, flags := range n.AllFlags(true) {
			for _, f := range flags {
				if w := (word{"--" + f.Name, f.Help}); !slices.Contains(list, w) {
					list = append(list, w)
				}
			}
		}
	}
	slices.SortFunc(list, func(x, y word) int { return cmp.Compare(x.text, y.text) })
	return list
}

// values are what a flag or an argument may be: its enumeration, or the names that
// are stored.
func (a *app) values(v *kong.Value) []word {
	if v.Enum != "" {
		var list []word
		for name := range strings.SplitSeq(v.Enum, ",") {
			list = append(list, word{text: strings.TrimSpace(name)})
		}
		return list
	}
	switch v.Name {
	case "agent":
		return a.agentWords()
	case "session":
		return a.sessionWords()
	case "moment":
		return a.momentWords()
	}
	return nil
}

// completed is how many names of the store are offered.
const completed = 50

// agentWords are the agents that can be run.
func (a *app) agentWords() (list []word) {
	_ = a.withCatalog(caller{}, func(ctx context.Context, docs *catalog.Catalog) error {
		entries, err := docs.List(ctx, "agent")
		for _, e := range entries {
			list = append(list, word{e.Name, e.Description})
		}
		return err
	})
	return list
}

func (a *app) sessionWords() (list []word) {
	_ = a.withStore(caller{}, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return nil
		}
		found, _, err := s.Sessions(ctx, store.SessionFilter{Limit: completed})
		for _, x := range found {
			list = append(list, word{x.ID, cmp.Or(x.Name, x.AgentName)})
		}
		return err
	})
	return list
}

func (a *app) momentWords() (list []word) {
	_ = a.withStore(caller{}, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return nil
		}
		found, _, err := s.Moments().Find(ctx, store.Filter{Limit: completed})
		for _, x := range found {
			list = append(list, word{x.Name, x.Summary})
		}
		return err
	})
	return list
}
