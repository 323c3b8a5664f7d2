package child

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/ingest"
)

// FuzzReceive: whatever a child writes, the parent returns a text that can be stored, or an
// error.
func FuzzReceive(f *testing.F) {
	frames := func(kinds string, payloads ...string) []byte {
		var b bytes.Buffer
		for i := range kinds {
			if err := writeFrame(&b, kinds[i], []byte(payloads[i])); err != nil {
				f.Fatal(err)
			}
		}
		return b.Bytes()
	}
	done := strings.Repeat("\x00", 16)
	f.Add(frames("ptd", "\x00\x00\x00\x01", "words", done))
	f.Add(frames("od", "too large", done))
	f.Add(frames("tt", "a", "b"))
	f.Add(frames("pd", "\x00", done))
	f.Add(frames("td", "\xff", done))
	f.Add([]byte("t\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, out []byte) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		go func() {
			_, _ = w.Write(out) // the reader may stop earlier
			_ = w.Close()
		}()
		x, err := (&process{out: r}).receive()
		_, _ = io.Copy(io.Discard, r)
		if err != nil {
			return
		}
		last := 0
		for _, p := range x.Pages {
			if p.Start < last || p.Start > len(x.Text) {
				t.Errorf("a page begins at %d of %d, after %d", p.Start, len(x.Text), last)
			}
			last = p.Start
		}
		if !utf8.ValidString(x.Text) {
			t.Errorf("the text is not UTF-8: %.50q", x.Text)
		}
	})
}

func TestRefusal(t *testing.T) {
	over, other := &refusal{"a", true}, &refusal{"b", false}
	if !errors.Is(over, ingest.ErrTooLarge) || errors.Is(other, ingest.ErrTooLarge) || errors.Is(over, ingest.ErrUnreadable) {
		t.Error("only a refusal that is over a limit is ErrTooLarge")
	}
}
