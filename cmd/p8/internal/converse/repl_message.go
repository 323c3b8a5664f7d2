package converse

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// attach adds a file to the next message.
func (r *repl) attach(path string) error {
	if path == "" {
		return errors.New("say which file: /attach photo.png")
	}
	next := r.next
	next.Parts = slices.Clone(r.next.Parts)
	if err := attach(&next, []string{path}, r.maxUpload); err != nil {
		return err
	}
	r.next = next
	r.note("%s goes with the next message", show.OneLine(filepath.Base(path)))
	return nil
}

// request returns the next message, with its files.
func (r *repl) request(text string) chat.Request {
	req := r.next
	req.Input = text + r.next.Input
	return req
}

// mostCopied bounds what /copy puts on the clipboard, in bytes; many terminals take no more.
const mostCopied = 74_000

// copy puts the last answer on the clipboard of the terminal (OSC 52).
func (r *repl) copy(string) error {
	if r.Shown == nil || r.Shown.Answer() == "" {
		return errors.New("there is no answer to copy yet")
	}
	text := r.Shown.Answer()
	if len(text) > mostCopied {
		return fmt.Errorf("the answer is too long for the clipboard of a terminal: `p8 sessions show %s` prints it", show.OneLine(r.id.SessionID))
	}
	if _, err := io.WriteString(r.Screen.File, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\a"); err != nil {
		return errors.New("the terminal cannot be written")
	}
	r.note("copied, if the terminal lets programs use the clipboard")
	return nil
}

// thinking prints the reasoning of the last answer, which was shown folded.
func (r *repl) thinking(string) error {
	if r.Shown == nil || r.Shown.Thoughts() == "" {
		r.note("there was no reasoning in the last answer")
		return nil
	}
	r.Screen.Wrapped(r.paint(term.Dim, "∴ "), show.Visible(r.Shown.Thoughts()))
	r.lines("")
	return nil
}
