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

// newPassword reads a password: twice from a terminal, without echo, or the first line of
// stdin.
func newPassword(a *command.App) (string, error) {
	if !show.IsTerminal(a.Stdin) {
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, longest)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			return "", command.Usage("there is no password on stdin: write it there, as in `p8 users add EMAIL < FILE`, or use a terminal")
		}
		return line, nil
	}
	first, err := ask(a, "New password: ")
	if err != nil {
		return "", err
	}
	again, err := ask(a, "Again: ")
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
