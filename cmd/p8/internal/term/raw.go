package term

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// Raw makes a terminal pass each key to the program at once, Ctrl-C too, until restore is
// called. Meanwhile, written lines must end with "\r\n" ([Returns]).
func Raw(f *os.File) (restore func(), err error) {
	old, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(int(f.Fd()), old) }, nil
}

// Password reads a line from a terminal without showing it.
func Password(f *os.File) (string, error) {
	text, err := term.ReadPassword(int(f.Fd()))
	return string(text), err
}

// SizeOf returns the size of a terminal, 80 by 24 if it is unknown.
func SizeOf(f *os.File) Size {
	return func() (columns, rows int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns < 1 || rows < 1 {
			return 80, 24
		}
		return columns, rows
	}
}

// Keep returns a function that puts the terminal back into the state that it has now, for a
// read that is given up.
func Keep(f *os.File) (restore func()) {
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) }
}

// Returns writes "\n" as "\r\n", for a raw terminal.
type Returns struct{ W io.Writer }

func (r Returns) Write(b []byte) (int, error) {
	text := bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	if _, err := r.W.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}
