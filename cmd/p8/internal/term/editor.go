package term

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
)

// ErrInterrupted is the error of Read after Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Completer returns the beginning of the word before at, and its completions.
type Completer func(text string, at int) (begin int, words []string)

// Editor reads texts from a person. The terminal must be raw during Read ([Raw]).
type Editor struct {
	keys keyboard
	view lineView
	// Complete is called on Tab; it may be nil.
	Complete Completer
	// History has the previous texts, the oldest first.
	History []string
	// Multiline allows texts of several lines: after a line that ends in "\", after
	// Alt-Enter, and in a paste.
	Multiline bool

	buffer buffer
	// past is the index in History; len(History) is the new text, which draft keeps.
	past  int
	draft string
}

// NewEditor returns an editor that reads keys from in and shows the text on out.
func NewEditor(in io.Reader, out io.Writer, size Size, pen Pen) *Editor {
	return &Editor{keys: keyboard{in: bufio.NewReaderSize(in, 4096)}, view: lineView{w: out, size: size, pen: pen}}
}

// Read reads a text. It returns io.EOF after Ctrl-D, and [ErrInterrupted] with the text so
// far after Ctrl-C.
func (e *Editor) Read(prompt string) (string, error) {
	e.buffer, e.past, e.draft = buffer{}, len(e.History), ""
	e.view.begin(prompt)
	for {
		e.view.draw(&e.buffer)
		k, err := e.keys.next()
		if err != nil {
			e.view.end(&e.buffer)
			return "", err
		}
		e.view.below = nil
		text, done, err := e.press(k)
		if done || err != nil {
			e.view.end(&e.buffer)
			return text, err
		}
	}
}

// Above writes lines above the text that is being read. Only the reader of keys may call
// it, while Read waits for a key.
func (e *Editor) Above(lines []string) { e.view.above(lines, &e.buffer) }

// press handles a key.
func (e *Editor) press(k key) (text string, done bool, err error) {
	b := &e.buffer
	switch k {
	case '\r':
		if e.Multiline && strings.HasSuffix(b.text, `\`) && b.at == len(b.text) {
			b.cut(len(b.text)-1, len(b.text))
			b.insert("\n")
			return "", false, nil
		}
		b.at = len(b.text)
		return b.text, true, nil
	case ctrl('c'):
		return b.text, true, ErrInterrupted
	case ctrl('d'):
		if b.text == "" {
			return "", false, io.EOF
		}
		b.cut(b.at, b.after())
	case '\t':
		e.complete()
	case '\n', keyNewline:
		if e.Multiline {
			b.insert("\n")
		}
	case keyPaste:
		pasted := strings.TrimRight(e.keys.pasted, "\n")
		if !e.Multiline {
			pasted = strings.ReplaceAll(pasted, "\n", " ")
		}
		b.insert(pasted)
	case ctrl('l'):
		e.view.clear()
	case ctrl('r'):
		return "", false, e.search()
	default:
		e.move(k)
	}
	return "", false, nil
}

// move handles keys that move the cursor or delete text.
func (e *Editor) move(k key) {
	b := &e.buffer
	switch k {
	case keyLeft, ctrl('b'):
		b.at = b.before()
	case keyRight, ctrl('f'):
		b.at = b.after()
	case keyHome, ctrl('a'):
		b.at = b.lineStart()
	case keyEnd, ctrl('e'):
		b.at = b.lineEnd()
	case keyWordLeft:
		b.at = b.wordLeft()
	case keyWordRight:
		b.at = b.wordRight()
	case keyBackspace, ctrl('h'):
		b.cut(b.before(), b.at)
	case keyDelete:
		b.cut(b.at, b.after())
	case ctrl('w'):
		b.cut(b.wordLeft(), b.at)
	case ctrl('u'):
		b.cut(b.lineStart(), b.at)
	case ctrl('k'):
		b.cut(b.at, b.lineEnd())
	case keyUp, ctrl('p'):
		if !b.up() {
			e.recall(-1)
		}
	case keyDown, ctrl('n'):
		if !b.down() {
			e.recall(1)
		}
	default:
		if k >= ' ' && unicode.IsPrint(rune(k)) || k == 0x200d || unicode.Is(unicode.M, rune(k)) {
			b.insert(string(rune(k)))
		}
	}
}

// recall shows a text of the history.
func (e *Editor) recall(step int) {
	next := e.past + step
	if next < 0 || next > len(e.History) {
		return
	}
	if e.past == len(e.History) {
		e.draft = e.buffer.text
	}
	e.past = next
	if next == len(e.History) {
		e.buffer.set(e.draft)
		return
	}
	e.buffer.set(e.History[next])
}

// complete extends the word before the cursor by the common beginning of its completions,
// and shows them if there are several.
func (e *Editor) complete() {
	if e.Complete == nil {
		return
	}
	b := &e.buffer
	begin, words := e.Complete(b.text, b.at)
	if len(words) == 0 || begin < 0 || begin > b.at {
		return
	}
	common := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, common) {
			r := []rune(common)
			common = string(r[:len(r)-1])
		}
	}
	typed := b.text[begin:b.at]
	switch {
	case len(words) == 1:
		b.cut(begin, b.at)
		b.insert(common + " ")
	case len(common) > len(typed):
		b.cut(begin, b.at)
		b.insert(common)
	default:
		e.view.below = e.view.columns(words)
	}
}

// Remember adds a text to the history unless it repeats the last one.
func (e *Editor) Remember(text string) bool {
	if text == "" || len(e.History) > 0 && e.History[len(e.History)-1] == text {
		return false
	}
	e.History = append(e.History, text)
	return true
}

// search searches the history backwards for the typed text (Ctrl-R), until a key that is not
// a character.
func (e *Editor) search() error {
	typed, at := "", len(e.History)
	find := func(from int) {
		for i := min(from, len(e.History)-1); i >= 0; i-- {
			if strings.Contains(e.History[i], typed) {
				at = i
				e.buffer.set(e.History[i])
				return
			}
		}
	}
	before := e.buffer.text
	for {
		e.view.below = []string{e.view.pen.Paint(Dim, "search back: "+typed)}
		e.view.draw(&e.buffer)
		k, err := e.keys.next()
		e.view.below = nil
		switch {
		case err != nil:
			return err
		case k == ctrl('r'):
			find(at - 1)
		case k == keyBackspace:
			if r := []rune(typed); len(r) > 0 {
				typed = string(r[:len(r)-1])
			}
		case k == ctrl('c') || k == ctrl('g'):
			e.buffer.set(before)
			return nil
		case k >= ' ' && unicode.IsPrint(rune(k)):
			typed += string(rune(k))
			find(at)
		default:
			if !slices.Contains([]key{'\r', keyNone}, k) {
				e.move(k)
			}
			return nil
		}
	}
}
