package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// prompt asks for lines: with editing, history and completion on a terminal,
// plainly from a pipe.
type prompt struct {
	text    string
	stdin   *os.File
	editor  *term.Editor
	plain   *bufio.Scanner
	history history
}

// maxLine bounds a line that comes from a pipe.
const maxLine = 1 << 20

// newPrompt reads from stdin. The history is kept in a file of the data folder,
// which is made when something is to be kept; "" keeps none. words are what Tab
// completes.
func newPrompt(a *app, text, file string, words []string) *prompt {
	p := &prompt{text: text, stdin: a.stdin, history: history{file}}
	out, ok := a.stdout.(*os.File)
	if kind := a.getenv("TERM"); !ok || kind == "" || kind == "dumb" || !isTerminal(a.stdin) || !isTerminal(out) {
		p.plain = bufio.NewScanner(a.stdin)
		p.plain.Buffer(nil, maxLine)
		return p
	}
	p.editor = term.NewEditor(a.stdin, out, term.SizeOf(out), term.Pen{Color: a.getenv("NO_COLOR") == ""})
	p.editor.Complete = func(text string, at int) (int, []string) { return complete(text, at, words) }
	p.editor.History = p.history.load()
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
	restore, err := term.Raw(p.stdin)
	if err != nil {
		return "", errors.New("the terminal does not let p8 read keys: give the query as an argument")
	}
	line, err := p.editor.Read(p.text)
	restore()
	if errors.Is(err, term.ErrInterrupted) {
		return "", errAborted
	}
	if err == nil && strings.TrimSpace(line) != "" {
		p.history.remember(p.editor, line)
	}
	return line, err
}

var errAborted = errors.New("aborted")

// complete finds the words that the word before the cursor begins, and where it
// does.
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
