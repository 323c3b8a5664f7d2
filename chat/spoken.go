package chat

import (
	"context"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
)

const (
	// maxText bounds the text of one answer, in bytes; a run that says more ends with
	// reason length.
	maxText = 2 << 20
	// mostText is how much text of an answer stays in memory, in bytes. A longer one is
	// read from the run's log when it is needed.
	mostText = 256 << 10
	// maxLongEnds is how many runs with a long answer may store it at one time.
	maxLongEnds = 2
)

// spoken is the text of an answer, in memory or in the log of its run.
type spoken struct {
	text event.Deltas
	// size is the length of all of it, in bytes.
	size int
	// account counts what is in memory. inLog says that nothing is: it is only
	// counted. Without logged, no log can be read.
	account       *live.Account
	logged, inLog bool
}

// Add appends a delta, which is in the log or comes there next.
func (s *spoken) Add(delta string) {
	s.size += len(delta)
	if s.inLog {
		return
	}
	s.text.Add(delta)
	s.account.Hold(len(delta))
	kept := s.text.Len()
	if s.logged && kept > keepText(s.account) {
		s.text.Reset()
		s.account.Hold(-kept)
		s.inLog = true
	}
}

// keepText is how much text a run may keep that its log has too, in bytes: where
// memory is tight, an eighth of its share.
func keepText(a *live.Account) int {
	if share, tight := a.Share(); tight {
		return share / 8
	}
	return mostText
}

// readAnswer is the text of the answer in the log: that of all agents, without what a
// restart takes back.
func readAnswer(ctx context.Context, log *live.Log) (string, error) {
	var said event.Spoken
	err := readLog(ctx, log, func(e *event.Event) { said.Add(e) })
	return said.String(), err
}

// readText is the last n bytes of the text that one run has in the log.
func readText(ctx context.Context, log *live.Log, n int, run string) (string, error) {
	var b strings.Builder
	b.Grow(min(n, maxText))
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

// whole puts the text of the answer into memory once more, for the end of the run.
// Long ones come one after the other; done lets the next one go on.
func (r *recorder) whole() (done func(), err error) {
	if !r.text.inLog {
		return func() {}, nil
	}
	r.longEnds <- struct{}{}
	r.Turn.long = true
	r.answer, err = readAnswer(r.stored, r.log)
	return func() {
		r.answer = ""
		<-r.longEnds
	}, err
}

// said is the text of the answer; of a long one only between whole and its done.
func (r *recorder) said() string {
	if r.text.inLog {
		return r.answer
	}
	return r.text.text.String()
}

// shortText is the text that the turn's result keeps: a long one is read when somebody
// asks for it.
func (r *recorder) shortText() string {
	if r.text.inLog {
		return ""
	}
	return r.said()
}

// runMemory is the run's account, and what it can read back of its own text.
type runMemory struct{ *recorder }

// Hold counts bytes.
func (m runMemory) Hold(n int) { m.account.Hold(n) }

// Keep is how much shown text the run may keep.
func (m runMemory) Keep() int { return keepText(&m.account) }

// Shown is the end of what the run itself has said.
func (m runMemory) Shown(n int) (string, error) {
	m.flush()
	return readText(m.stored, m.log, n, m.RunID)
}
