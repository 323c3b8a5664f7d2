// Package filelock locks files between processes. The lock ends with the process, however
// the process ends.
package filelock

import (
	"context"
	"os"
	"time"
)

// retry is the time between two tries of [Wait].
const retry = 20 * time.Millisecond

// Wait locks the file until it is closed, waiting for other processes as long as ctx
// lasts.
func Wait(ctx context.Context, f *os.File) error {
	for {
		switch ok, err := Try(f); {
		case err != nil:
			return err
		case ok:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retry):
		}
	}
}
