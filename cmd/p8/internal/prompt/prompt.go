// Package prompt reads lines from a person, with editing, history and completion on
// a terminal, or plainly from a pipe.
package prompt

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// prompt reads lines, with editing, history and completion on a terminal.
type prompt struct {
	text    string
	stdin   *os.File
	Editor  *term.Editor
	plain   *bufio.Scanner
	history History
}

// maxLine bounds a line of a pipe, in bytes.
const maxLine = 1 << 20

// New returns a prompt that reads stdin. file keeps the history; with "", no history is
// kept. Tab completes words.
func New(a *command.App, text, file string, words []string) *prompt {
	p := &prompt{text: text, stdin: a.Stdin, history: History{file}}
	out, ok := a.Stdout.(*os.File)
	if kind := a.Getenv("TERM"); !ok || kind == "" || kind == "dumb" || !show.IsTerminal(a.Stdin) || !show.IsTerminal(out) {
		p.plain = bufio.NewScanner(a.Stdin)
		p.plain.Buffer(nil, maxLine)
		return p
	}
	p.Editor = term.NewEditor(a.Stdin, out, term.SizeOf(out), term.Pen{Color: a.Getenv("NO_COLOR") == ""})
	p.Editor.Complete = func(text string, at int) (int, []string) { return complete(text, at, words) }
	p.Editor.History = p.history.Load()
	return p
}

// Line returns the next line, io.EOF at the end, or ErrAborted after Ctrl-C.
func (p *prompt) Line() (string, error) {
	if p.plain != nil {
		if !p.plain.Scan() {
			return "", errors.Join(p.plain.Err(), io.EOF)
		}
		return p.plain.Text(), nil
	}
	restore, err := term.Raw(p.stdin)
	if err != nil {
		return "", errors.New("the terminal does not let p8 read keys: give the query as an argument")
	}
	line, err := p.Editor.Read(p.text)
	restore()
	if errors.Is(err, term.ErrInterrupted) {
		return "", ErrAborted
	}
	if err == nil && strings.TrimSpace(line) != "" {
		p.history.Remember(p.Editor, line)
	}
	return line, err
}

// ErrAborted is the error of a line that Ctrl-C ended.
var ErrAborted = errors.New("aborted")

// complete returns the words that begin with the word before the cursor, and where that
// word begins.
func complete(line string, at int, words []string) (begin int, found []string) {
	begin = strings.LastIndexByte(line[:at], ' ') + 1
	typed := line[begin:at]
	if typed == "" {
		return begin, nil
	}
	for _, w := range words {
		if len(w) >= len(typed) && strings.EqualFold(w[:len(typed)], typed) {
			found = append(found, w)
		}
	}
	slices.Sort(found)
	return begin, found
}
