package knowledge

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/ingest"
)

const (
	barWidth = 40
	// barPause is the time between two drawings.
	barPause = 100 * time.Millisecond
)

// bar is a progress bar on a terminal; without a writer it shows nothing.
type bar struct {
	out          io.Writer
	now          func() time.Time
	begun, drawn time.Time
}

func newBar(a *command.App, hidden bool) *bar {
	if hidden || !show.IsTerminal(a.Stderr) {
		return &bar{}
	}
	return &bar{out: a.Stderr, now: time.Now}
}

// show draws the bar: the share, the files, the time that passed and that is left.
func (b *bar) show(p ingest.Progress) {
	if b.out == nil || p.Files == 0 {
		return
	}
	now := b.now()
	if b.begun.IsZero() {
		b.begun = now
	}
	if now.Sub(b.drawn) < barPause {
		return
	}
	b.drawn = now
	passed := now.Sub(b.begun)
	left := time.Duration(0)
	if p.Done > 0 {
		left = passed * time.Duration(p.Files-p.Done) / time.Duration(p.Done)
	}
	full := barWidth * p.Done / p.Files
	fmt.Fprintf(b.out, "\r\x1b[Kfiles %3d%% |%s%s| (%d/%d) [%s:%s]", 100*p.Done/p.Files,
		strings.Repeat("█", full), strings.Repeat(" ", barWidth-full), p.Done, p.Files, passed.Round(time.Second), left.Round(time.Second))
}

// close removes the bar.
func (b *bar) close() {
	if !b.drawn.IsZero() {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
