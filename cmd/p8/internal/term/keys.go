package term

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// key is a pressed key: a character, or one of those below.
type key rune

const (
	keyNone key = -iota - 1
	keyUp
	keyDown
	keyLeft
	keyRight
	keyHome
	keyEnd
	keyDelete
	keyWordLeft
	keyWordRight
	keyNewline
	keyPaste
)

// ctrl returns the key of a character with Ctrl.
func ctrl(c rune) key { return key(c & 0x1f) }

const keyBackspace key = 0x7f

// The bounds of a paste and of the escape sequence of a key, in bytes.
const (
	maxPaste    = 1 << 20
	maxSequence = 32
)

// keyboard reads keys.
type keyboard struct {
	in *bufio.Reader
	// pasted is the text of the last keyPaste.
	pasted string
}

// next returns the next key.
func (k *keyboard) next() (key, error) {
	r, _, err := k.in.ReadRune()
	switch {
	case err != nil:
		return keyNone, err
	case r == utf8.RuneError:
		return keyNone, nil
	case r != 0x1b:
		return key(r), nil
	}
	b, err := k.in.ReadByte()
	switch {
	case err != nil:
		return keyNone, err
	case b == '[' || b == 'O':
		return k.sequence()
	case b == '\r' || b == '\n':
		return keyNewline, nil
	case b == 'b':
		return keyWordLeft, nil
	case b == 'f':
		return keyWordRight, nil
	}
	return keyNone, nil
}

// sequence reads the rest of an escape sequence.
func (k *keyboard) sequence() (key, error) {
	var arguments strings.Builder
	for arguments.Len() < maxSequence {
		b, err := k.in.ReadByte()
		if err != nil {
			return keyNone, err
		}
		if b >= '0' && b <= '9' || b == ';' {
			arguments.WriteByte(b)
			continue
		}
		return k.named(arguments.String(), b)
	}
	return keyNone, nil
}

func (k *keyboard) named(arguments string, end byte) (key, error) {
	word := strings.HasSuffix(arguments, ";5") || strings.HasSuffix(arguments, ";3")
	switch end {
	case 'A':
		return keyUp, nil
	case 'B':
		return keyDown, nil
	case 'C':
		if word {
			return keyWordRight, nil
		}
		return keyRight, nil
	case 'D':
		if word {
			return keyWordLeft, nil
		}
		return keyLeft, nil
	case 'H':
		return keyHome, nil
	case 'F':
		return keyEnd, nil
	case '~':
		switch arguments {
		case "1", "7":
			return keyHome, nil
		case "4", "8":
			return keyEnd, nil
		case "3":
			return keyDelete, nil
		case "200":
			return keyPaste, k.paste()
		}
	}
	return keyNone, nil
}

// paste reads a pasted text to its end.
func (k *keyboard) paste() error {
	const end = "\x1b[201~"
	var b strings.Builder
	for !strings.HasSuffix(b.String(), end) {
		c, err := k.in.ReadByte()
		if err != nil {
			return err
		}
		if b.Len() < maxPaste || c == '~' || c == 0x1b {
			b.WriteByte(c)
		}
		if b.Len() > 2*maxPaste {
			return io.ErrShortBuffer
		}
	}
	text := strings.ToValidUTF8(strings.TrimSuffix(b.String(), end), "")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text)
	k.pasted = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
	return nil
}
