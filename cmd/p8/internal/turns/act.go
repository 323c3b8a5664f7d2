package turns

import (
	"context"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
)

// Act changes a run where its data is: it calls there with the server, or here with a
// Runner that can resume the run in this process.
func Act(a *command.App, who command.Caller, at peer.Elsewhere, json bool, there func(context.Context, *peer.Server) error, here func(*Runner) error) error {
	return peer.At(a, who, at, "runs", there, func(ctx context.Context, p *wiring.Parts) error {
		if err := peer.TakeOver(a, ctx, p); err != nil {
			return err
		}
		t := &Runner{App: a, Parts: p, JSON: json, Ctx: ctx}
		defer t.WatchInterrupts()()
		return here(t)
	})
}
