package record

import (
	"context"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
)

const (
	// MaxText bounds the text of one answer, in bytes; a run that says more ends with
	// reason length.
	MaxText = 2 << 20
	// mostText is how much text of an answer stays in memory, in bytes. A longer one is
	// read from the run's log when it is needed.
	mostText = 256 << 10
)

// Text is the text of an answer. It is kept in memory; if the text is long, or memory is
// tight, only the run's log has it.
type Text struct {
	text    *event.Spoken
	size    int
	account *live.Account
	log     *live.Log
	inLog   bool
}

// NewText makes the text of a run whose log it can be read from. A nil log keeps all of
// the text in memory.
func NewText(account *live.Account, log *live.Log) Text {
	return Text{text: new(event.Spoken), account: account, log: log}
}

// Add adds the text of an event, which is in the log or is appended to it next.
func (t *Text) Add(e *event.Event) {
	n := 0
	if e.Type == event.Text && e.Void == 0 {
		n = len(e.Text)
	}
	t.size += n
	if t.inLog {
		return
	}
	t.text.Add(e)
	if n == 0 {
		return
	}
	t.account.Hold(n)
	kept := t.text.Len()
	if t.log != nil && kept > KeepText(t.account) {
		t.text = nil
		t.account.Hold(-kept)
		t.inLog = true
	}
}

// Size returns the length of the whole text, in bytes.
func (t *Text) Size() int { return t.size }

// Long reports whether the text is in the log alone.
func (t *Text) Long() bool { return t.inLog }

// Short returns the text unless it is long.
func (t *Text) Short() string {
	if t.inLog {
		return ""
	}
	return t.text.String()
}

// Read returns the text, from the log if it is long.
func (t *Text) Read(ctx context.Context) (string, error) {
	if t.inLog {
		return ReadAnswer(ctx, t.log)
	}
	return t.text.String(), nil
}

// KeepText returns how many bytes of text a run may keep in memory although its log has the text
// too: while memory is tight, an eighth of the run's share.
func KeepText(a *live.Account) int {
	if share, tight := a.Share(); tight {
		return share / 8
	}
	return mostText
}

// ReadAnswer returns the text of the answer in the log: that of all agents, without text
// that a restart voids.
func ReadAnswer(ctx context.Context, log *live.Log) (string, error) {
	var said event.Spoken
	err := readLog(ctx, log, func(e *event.Event) { said.Add(e) })
	return said.String(), err
}

// ReadText returns the last n bytes of the text of one run in the log.
func ReadText(ctx context.Context, log *live.Log, n int, run string) (string, error) {
	var b strings.Builder
	b.Grow(min(n, MaxText))
	err := readLog(ctx, log, func(e *event.Event) {
		if e.Type == event.Text && e.RunID == run {
			b.WriteString(e.Text)
		}
	})
	return b.String()[max(0, b.Len()-n):], err
}

// readLog reads the events that the log has by now.
func readLog(ctx context.Context, log *live.Log, add func(*event.Event)) error {
	last := log.Last()
	if last == 0 {
		return nil
	}
	for e, err := range log.Read(ctx, 0) {
		if err != nil {
			return err
		}
		if add(&e); e.Seq >= last {
			break
		}
	}
	return nil
}
