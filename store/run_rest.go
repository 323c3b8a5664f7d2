package store

import (
	"context"
	"time"
)

// rest is the end of a process's work on a run: the run waits, is interrupted or has ended.
// answer is the id of its answer, "" if it has no answer. attempted counts a failed attempt
// to resume the run.
type rest struct {
	status, reason, answer string
	at                     time.Time
	attempted              bool
	consumed               Consumed
}

// restRun writes a rest. The transaction holds the run's row. An interrupted run with an
// open request waits for the answer.
func restRun(ctx context.Context, c Conn, tenant, id string, r rest) error {
	if err := changeHooks(ctx, c, tenant, id, r.at); err != nil {
		return err
	}
	if r.status == RunInterrupted {
		failed := 0
		if r.attempted {
			failed = 1
		}
		return c.Later(ctx, Statement{
			SQL: `UPDATE runs SET status = CASE WHEN open_requests > 0 THEN 'waiting' ELSE 'interrupted' END,
				reason = CASE WHEN open_requests > 0 THEN 'paused' ELSE $3 END, rested_at = $4, changed_at = $4, kept_bytes = log_bytes,
				attempts = attempts + $5, restarts = restarts + 1,
				input_tokens = COALESCE($6, input_tokens), output_tokens = COALESCE($7, output_tokens), cost_usd = COALESCE($8, cost_usd)
				WHERE tenant_id = $1 AND id = $2`,
			Args: append([]any{tenant, id, r.reason, r.at, failed}, r.consumed.args()...),
		})
	}
	// A run that has ended keeps no open request.
	ended, open := any(nil), 1
	if runEnded(r.status) {
		ended, open = r.at, 0
	}
	if err := c.Later(ctx, Statement{
		SQL: `UPDATE runs SET status = $3, reason = $4, message_id = COALESCE($5, message_id), rested_at = $6, changed_at = $6, ended_at = $7,
			kept_bytes = log_bytes, open_requests = open_requests * $8,
			input_tokens = COALESCE($9, input_tokens), output_tokens = COALESCE($10, output_tokens), cost_usd = COALESCE($11, cost_usd)
			WHERE tenant_id = $1 AND id = $2`,
		Args: append([]any{tenant, id, r.status, r.reason, null(r.answer), r.at, ended, open}, r.consumed.args()...),
	}); err != nil || ended == nil {
		return err
	}
	if err := cancelRequests(ctx, c, tenant, id, r.at); err != nil {
		return err
	}
	return c.Later(ctx, Statement{SQL: `DELETE FROM run_journal WHERE tenant_id = $1 AND run_id = $2`, Args: []any{tenant, id}})
}

// args returns the columns; NULL for what is not known.
func (c Consumed) args() []any {
	if c == (Consumed{}) {
		return []any{nil, nil, nil}
	}
	return []any{c.InputTokens, c.OutputTokens, c.CostUSD}
}

// cancelRequests cancels the open requests of a run that has ended. The transaction holds the run's
// row and sets its count.
func cancelRequests(ctx context.Context, c Conn, tenant, run string, now time.Time) error {
	return c.Later(ctx, Statement{
		SQL: `UPDATE run_requests SET status = 'cancelled', decided_at = $3
			WHERE tenant_id = $1 AND run_id = $2 AND status = 'open'`,
		Args: []any{tenant, run, now},
	})
}
