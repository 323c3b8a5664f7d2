package evals

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/experiment"
)

// progress shows how far an evaluation is: a bar on a terminal, else lines.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	now      func() time.Time
	begun    time.Time
	drawn    time.Time
	// said is the tenth of the tasks that the last line was about.
	said int64
	at   experiment.Progress
	// note is the last refusal of a provider; noted is when a line said so.
	note  string
	noted time.Time
	// failed and unjudged are the reasons of the first failed run and missing verdict.
	failed, unjudged string
}

const (
	barWidth = 30
	barPause = 100 * time.Millisecond
	// notePause is the time between two lines about refusals.
	notePause = 30 * time.Second
)

func newProgress(a *command.App) *progress {
	return &progress{out: a.Stderr, terminal: show.IsTerminal(a.Stderr), now: time.Now, begun: time.Now()}
}

// show draws the bar, or prints a line for each tenth.
func (p *progress) show(at experiment.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
	p.learn(at.Last)
	if !p.terminal {
		if tenth := 10 * at.Done / at.Tasks; tenth > p.said || at.Done == at.Tasks && at.Done > at.Kept {
			p.said = tenth
			fmt.Fprintf(p.out, "p8: %s\n", p.words())
		}
		return
	}
	if now := p.now(); now.Sub(p.drawn) >= barPause || at.Done == at.Tasks {
		p.drawn = now
		p.draw()
	}
}

// learn remembers the first reasons of what went wrong.
func (p *progress) learn(r *experiment.Result) {
	if p.failed == "" {
		p.failed = r.Output.Error
	}
	for name, reason := range r.Unjudged {
		if p.unjudged == "" {
			p.unjudged = name + ": " + reason
		}
	}
}

// troubles says how much went wrong, and why the first time.
func (p *progress) troubles(a *command.App) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.Failed > 0 {
		a.Say("%s failed; the first: %s", show.Count(p.at.Failed, "run"), show.OneLine(p.failed))
	}
	if p.at.Unjudged > 0 {
		a.Say("%s missing; the first: %s", show.Count(p.at.Unjudged, "verdict"), show.OneLine(p.unjudged))
	}
}

// refused notes a refusal of a provider.
func (p *progress) refused(model string, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note = fmt.Sprintf("%s refuses requests: waiting %s", show.OneLine(model), pause.Round(time.Second))
	switch now := p.now(); {
	case p.terminal && p.at.Tasks > 0:
		p.draw()
	case !p.terminal && now.Sub(p.noted) >= notePause:
		p.noted = now
		fmt.Fprintf(p.out, "p8: %s\n", p.note)
	}
}

func (p *progress) draw() {
	full := int(barWidth * p.at.Done / p.at.Tasks)
	text := fmt.Sprintf("|%s%s| %s", strings.Repeat("█", full), strings.Repeat(" ", barWidth-full), p.words())
	if p.note != "" {
		text += " · " + p.note
		p.note = ""
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s", text)
}

func (p *progress) words() string {
	at := p.at
	text := fmt.Sprintf("%d of %s", at.Done, show.Count(int(at.Tasks), "answer"))
	if at.Kept > 0 {
		text += fmt.Sprintf(" (%d from before)", at.Kept)
	}
	if at.Failed > 0 {
		text += fmt.Sprintf(", %d failed", at.Failed)
	}
	if at.Unjudged > 0 {
		text += fmt.Sprintf(", %d not judged", at.Unjudged)
	}
	if at.CostUSD > 0 {
		text += fmt.Sprintf(", $%.4f", at.CostUSD)
	}
	passed := p.now().Sub(p.begun)
	if fresh := at.Done - at.Kept; fresh > 0 && at.Done < at.Tasks {
		left := time.Duration(float64(passed) / float64(fresh) * float64(at.Tasks-at.Done))
		text += fmt.Sprintf(" [%s, %s left]", passed.Round(time.Second), left.Round(time.Second))
	}
	return text
}

// close removes the bar.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && !p.drawn.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
