package jobs

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/riverqueue/river/rivertype"
)

// Forget removes the jobs of a user: those whose arguments have this tenant and user. It
// cancels those that run, and returns their number; they are removed by a later call.
func (q *Queue) Forget(ctx context.Context, tenant, user string) (running int, err error) {
	client, err := q.current(true)
	if err != nil {
		return 0, err
	}
	const most = 1000
	for before := int64(0); ; {
		page, err := q.List(ctx, Filter{Before: before, Limit: most})
		if err != nil {
			return running, err
		}
		for _, job := range page {
			before = job.ID
			var of struct{ Tenant, User string }
			if json.Unmarshal(job.Args, &of) != nil || of.Tenant != tenant || of.User != user {
				continue
			}
			if job.State == Running {
				if _, err := q.Cancel(ctx, job.ID); err != nil && !errors.Is(err, ErrNotFound) {
					return running, err
				}
				running++
				continue
			}
			switch _, err := client.JobDelete(ctx, job.ID); {
			case errors.Is(err, rivertype.ErrJobRunning):
				running++ // it began a moment ago
			case err != nil && !errors.Is(err, rivertype.ErrNotFound):
				return running, failure(ctx, "remove a job", err)
			}
		}
		if len(page) < most {
			return running, nil
		}
	}
}
