package chat

import (
	"context"

	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/internal/live"
)

// executor makes the last two stages of turns: it executes runs.
type executor struct {
	o        *Options
	stages   *preparer
	sessions *sessions.Slots[*running]
	archive  *archive
	budget   *live.Budget
	// storing bounds the runs that store their events at one time, longEnds the long
	// answers that are in memory to be stored.
	storing, longEnds chan struct{}
	// resume resumes a run that has its answers when it pauses.
	resume func(ctx context.Context, runID string) error
}

const (
	// maxStoring is small: the write of a question or an answer waits for so many writes of
	// other runs' events.
	maxStoring = 1
	// maxLongEnds is how many runs with a long answer may store it at one time.
	maxLongEnds = 2
)

func newExecutor(o *Options, stages *preparer, archive *archive) *executor {
	return &executor{
		o: o, stages: stages, archive: archive, budget: live.NewBudget(o.Memory),
		sessions: sessions.NewSlots[*running](sessions.Options{
			Most: o.MaxRuns, Busy: ErrBusy, Overloaded: ErrOverloaded, Closed: ErrClosed,
		}),
		storing: make(chan struct{}, maxStoring), longEnds: make(chan struct{}, maxLongEnds),
	}
}
