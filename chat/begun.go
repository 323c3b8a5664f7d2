package chat

import (
	"context"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// begun is the third stage of a turn: a run that the store has, and that this process is
// about to execute.
type begun struct {
	prepared prepared
	// stored is the context of the store's calls. It outlives the run: a cancelled run is
	// stored, too.
	stored  context.Context
	cancel  context.CancelCauseFunc
	log     *live.Log
	account live.Account
	quota   Account
	journal *record.Journal
	running *running
	// resumed is nil for a run that is new.
	resumed *resumed
}

// endQuota closes the account of the caller's quotas.
func (b *begun) endQuota() {
	if b.quota.End != nil {
		b.quota.End(b.running.result.Usage)
	}
}

// resumed is the stored state of a run that was begun before, in this process or another.
type resumed struct {
	// run is its stored row, as it was claimed.
	run     store.Run
	journal *record.Journal
	// unread are messages that steer the run, and that its model has not seen.
	unread *sessions.Inbox
	// choice replaces the run's choice of tools; nil keeps it. It is not stored: after a
	// crash, the run has its first choice again.
	choice *run.ToolChoice
	// restarted is the number of the restart event, which takes back the text of the step
	// that was cut; 0 if nothing was taken back.
	restarted int64
}
