package access

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// longest bounds what is read of a password.
const longest = 64 << 10

// passwords reads passwords from a terminal, without echo, or the lines of stdin.
type passwords struct {
	a *command.App
	// lines is nil at a terminal.
	lines *bufio.Reader
}

func newPasswords(a *command.App) *passwords {
	p := &passwords{a: a}
	if !show.IsTerminal(a.Stdin) {
		p.lines = bufio.NewReader(io.LimitReader(a.Stdin, longest))
	}
	return p
}

func (p *passwords) line() (string, error) {
	line, err := p.lines.ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

// old reads the password that counts now.
func (p *passwords) old() (string, error) {
	if p.lines == nil {
		return ask(p.a, "Old password: ")
	}
	line, err := p.line()
	if err == nil && line == "" {
		err = command.Usage("you are no admin, so your old password is needed: write it to the second line of stdin, or use a terminal")
	}
	return line, err
}

// next reads a new password, from a terminal twice.
func (p *passwords) next() (string, error) {
	if p.lines != nil {
		line, err := p.line()
		if err == nil && line == "" {
			err = command.Usage("there is no password on stdin: write it there, as in `p8 users add EMAIL < FILE`, or use a terminal")
		}
		return line, err
	}
	first, err := ask(p.a, "New password: ")
	if err != nil {
		return "", err
	}
	again, err := ask(p.a, "Again: ")
	if err == nil && again != first {
		err = errors.New("the two passwords are not the same: nothing is changed")
	}
	return first, err
}

func ask(a *command.App, prompt string) (string, error) {
	if _, err := io.WriteString(a.Stderr, prompt); err != nil {
		return "", err
	}
	text, err := term.Password(a.Stdin)
	_, _ = io.WriteString(a.Stderr, "\n")
	if errors.Is(err, io.EOF) {
		err = command.Fail(command.ExitInterrupted, errors.New("stopped"))
	}
	return text, err
}
