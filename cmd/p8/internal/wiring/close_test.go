package wiring

import (
	"context"
	"testing"
)

// TestClosersRunTogether: what is left of the metrics is sent though the collector of spans hangs.
func TestClosersRunTogether(t *testing.T) {
	sent := make(chan struct{})
	waited := false
	o := &observer{closers: []func(context.Context) error{
		func(ctx context.Context) error {
			select {
			case <-sent:
				waited = true
			case <-ctx.Done():
			}
			return nil
		},
		func(context.Context) error { close(sent); return nil },
	}}
	o.close()
	if !waited {
		t.Error("the second closer waits for the first")
	}
}
