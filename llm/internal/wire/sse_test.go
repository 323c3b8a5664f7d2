package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestManyDataLines: a hostile server cannot make the reader check an event again for each
// of its many lines, which took hours.
func TestManyDataLines(t *testing.T) {
	var e events
	e.reset(io.MultiReader(strings.NewReader("data: [1\n"), strings.NewReader(strings.Repeat("data: ,1\n", 1<<20))))
	for {
		if _, err := e.next(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
	}
	if e.checked > maxResponse+maxEvent {
		t.Errorf("%d bytes were checked", e.checked)
	}
}
