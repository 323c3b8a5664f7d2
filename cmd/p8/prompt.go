package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/peterh/liner"
)

// prompt asks for lines: with editing, history and completion on a terminal,
// plainly from a pipe.
type prompt struct {
	text    string
	editor  *liner.State
	plain   *bufio.Scanner
	history string
}

// maxLine bounds a line that comes from a pipe.
const maxLine = 1 << 20

// newPrompt reads from stdin. The history is kept in a file of the data folder,
// which is made when something is to be kept; "" keeps none. words are what Tab
// completes.
func newPrompt(a *app, text, history string, words []string) *prompt {
	p := &prompt{text: text, history: history}
	if !isTerminal(a.stdin) || !isTerminal(a.stdout) || !liner.TerminalSupported() {
		p.plain = bufio.NewScanner(a.stdin)
		p.plain.Buffer(nil, maxLine)
		return p
	}
	p.editor = liner.NewLiner()
	p.editor.SetCtrlCAborts(true)
	p.editor.SetTabCompletionStyle(liner.TabPrints)
	p.editor.SetWordCompleter(func(line string, at int) (string, []string, string) {
		return complete(line, at, words)
	})
	if f, err := os.Open(history); err == nil {
		_, _ = p.editor.ReadHistory(f)
		f.Close()
	}
	return p
}

// line is the next line, io.EOF at the end and errAborted after Ctrl-C.
func (p *prompt) line() (string, error) {
	if p.plain != nil {
		if !p.plain.Scan() {
			return "", errors.Join(p.plain.Err(), io.EOF)
		}
		return p.plain.Text(), nil
	}
	line, err := p.editor.Prompt(p.text)
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", errAborted
	}
	if err == nil && strings.TrimSpace(line) != "" {
		p.editor.AppendHistory(line)
	}
	return line, err
}

var errAborted = errors.New("aborted")

// close gives the terminal back and keeps the history, readable by its owner
// only: queries are private.
func (p *prompt) close() {
	if p.editor == nil {
		return
	}
	defer p.editor.Close()
	if p.history == "" || os.MkdirAll(filepath.Dir(p.history), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(p.history, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	_, _ = p.editor.WriteHistory(f)
	f.Close()
}

// complete finds the words that the word before the cursor begins.
func complete(line string, at int, words []string) (head string, found []string, tail string) {
	r := []rune(line)
	at = min(at, len(r))
	begin := at
	for begin > 0 && r[begin-1] != ' ' {
		begin--
	}
	typed := string(r[begin:at])
	if typed != "" {
		for _, w := range words {
			if len(w) > len(typed) && strings.EqualFold(w[:len(typed)], typed) {
				found = append(found, w)
			}
		}
		slices.Sort(found)
	}
	return string(r[:begin]), found, string(r[at:])
}
