package term

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// Raw gives every key of a terminal to the program at once, Ctrl-C too; restore undoes
// it. What is written meanwhile must end its lines with "\r\n" ([Returns]).
func Raw(f *os.File) (restore func(), err error) {
	old, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(int(f.Fd()), old) }, nil
}

// SizeOf tells the size of a terminal, 80 by 24 when it does not say.
func SizeOf(f *os.File) Size {
	return func() (columns, rows int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns < 1 || rows < 1 {
			return 80, 24
		}
		return columns, rows
	}
}

// Returns writes "\n" as "\r\n", which a raw terminal needs.
type Returns struct{ W io.Writer }

func (r Returns) Write(b []byte) (int, error) {
	text := bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	if _, err := r.W.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}
