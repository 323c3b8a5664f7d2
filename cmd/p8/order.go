package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// flagsFirst moves the flags that stand between a command's arguments before them:
// kong ends a list of arguments at a flag, people write `p8 chat FILE --session x "hi"`.
func flagsFirst(root *kong.Node, args []string) []string {
	node := root
	first, arguments := make([]string, 0, len(args)), []string(nil)
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--":
			return append(append(first, arguments...), args[i:]...)
		case len(word) > 1 && word[0] == '-':
			first = append(first, word)
			if i+1 < len(args) && wantsValue(node, word) {
				i++
				first = append(first, args[i])
			}
		case len(arguments) == 0 && subcommand(node, word) != nil:
			node = subcommand(node, word)
			first = append(first, word)
			if node.Passthrough {
				return args // the words of a shell's command line
			}
		default:
			arguments = append(arguments, word)
		}
	}
	return append(first, arguments...)
}

func subcommand(node *kong.Node, word string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == word {
			return child
		}
	}
	return nil
}

// wantsValue reports whether the word after this flag, or after these short flags, is
// its value.
func wantsValue(node *kong.Node, word string) bool {
	if name, long := strings.CutPrefix(word, "--"); long {
		f := findFlag(node, func(f *kong.Flag) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
		return f != nil && !f.IsBool() && !f.IsCounter()
	}
	short := []rune(word[1:])
	for i, r := range short {
		f := findFlag(node, func(f *kong.Flag) bool { return f.Short == r })
		if f == nil {
			return false
		}
		if !f.IsBool() && !f.IsCounter() {
			return i == len(short)-1
		}
	}
	return false
}

func findFlag(node *kong.Node, is func(*kong.Flag) bool) *kong.Flag {
	if node.DefaultCmd != nil { // it takes flags without being named
		node = node.DefaultCmd
	}
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if is(f) {
				return f
			}
		}
	}
	return nil
}
