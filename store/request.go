package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

func (r *RunRequest) check() error {
	if r.Status != "" && r.Status != RequestOpen {
		return invalidf("a new request is open, not %.32q", r.Status)
	}
	if r.Kind == "" {
		return invalidf("a request has a kind")
	}
	if err := tooLong("message", len(r.Message)); err != nil {
		return err
	}
	return firstError(checkID(r.ID), checkShort("kind", &r.Kind, "agent_path", &r.AgentPath, "tool_name", &r.ToolName, "tool_id", &r.ToolCallID),
		cleanText("message", &r.Message), smallJSON("arguments", &r.Arguments), smallJSON("response_schema", &r.Schema))
}

func (d *Decision) check() error {
	switch d.Status {
	case RequestAccepted, RequestDeclined, RequestCancelled:
	default:
		return invalidf("a request is accepted, declined or cancelled, not %.32q", d.Status)
	}
	if err := firstError(tooLong("comment", len(d.Comment)), tooLong("content", len(d.Content))); err != nil {
		return err
	}
	return firstError(checkObject("content", &d.Content), cleanText("comment", &d.Comment), checkShort("via", &d.Via))
}

func tooLong(field string, n int) error {
	if n > maxRequestField {
		return invalidf("the %s of a request is larger than %d KiB", field, maxRequestField>>10)
	}
	return nil
}

func smallJSON(field string, raw *json.RawMessage) error {
	if err := tooLong(field, len(*raw)); err != nil {
		return err
	}
	return checkJSON(field, raw)
}

// ask writes the requests; one that the run has asked before stays as it is.
func (w *RunWrite) ask(ctx context.Context, c Conn, by caller, now time.Time) error {
	asked := int64(len(w.Requests))
	for _, r := range w.Requests {
		var expires any
		if !r.ExpiresAt.IsZero() {
			expires = r.ExpiresAt
		}
		if err := c.Later(ctx, Statement{
			SQL: `INSERT INTO run_requests
				(tenant_id, id, user_id, run_id, session_id, kind, agent_path, tool_name, tool_id, arguments, message, response_schema,
				status, created_at, expires_at)
				VALUES ($1, $3, $4, $2, ` + runSession + `, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING RETURNING 1`,
			Args: []any{by.TenantID, w.RunID, r.ID, by.user, r.Kind, r.AgentPath, null(r.ToolName), null(r.ToolCallID),
				by.seal.value("arguments", r.Arguments), by.seal.value("message", r.Message), by.seal.value("response_schema", r.Schema), RequestOpen, now, expires},
			Missing: func() error {
				asked--
				same, err := one(ctx, c, `SELECT 1 FROM run_requests`+ownRow+` AND run_id = $4`, []any{new(int64)}, by.TenantID, r.ID, by.user, w.RunID)
				if err == nil && !same {
					err = conflictf("another run has a request %q", r.ID)
				}
				return err
			},
		}); err != nil {
			return err
		}
	}
	if asked == 0 {
		return nil
	}
	return countRequests(ctx, c, by.TenantID, w.RunID, asked, now)
}

// countRequests stores the number of a run's open requests in the run's row, so that an index
// finds the runs without any. It also sets the time since which the run rests: a run that
// waited long for an answer must not be pruned before it is resumed.
func countRequests(ctx context.Context, c Conn, tenant, run string, more int64, now time.Time) error {
	return c.Later(ctx, Statement{
		SQL: `UPDATE runs SET open_requests = open_requests + $3, rested_at = CASE WHEN rested_at IS NULL THEN rested_at ELSE $4 END
			WHERE tenant_id = $1 AND id = $2`,
		Args: []any{tenant, run, more, now},
	})
}

// Request returns a request of the caller's runs.
func (s *Store) Request(ctx context.Context, id string) (r RunRequest, err error) {
	err = s.readIn(ctx, "read request", sharedSession(ctx), func(c Conn, by caller) error {
		found, err := one(ctx, c, `SELECT `+requestColumns+` FROM run_requests`+ownRow, r.columns(), by.TenantID, storable(id), by.user)
		if err == nil && (!found || by.author != "" && r.SessionID != by.Shared.Session) {
			r, err = RunRequest{}, notFound("request", id)
		}
		return err
	})
	return r, err
}

// Requests lists requests of the caller's runs: 50 when Limit is 0, 500 at most.
// next is the cursor of the next page, "" after the last.
func (s *Store) Requests(ctx context.Context, f RequestFilter) (list []RunRequest, next string, err error) {
	limit := page(f.Limit, 50, 500)
	f.SessionID = cmp.Or(f.SessionID, sharedSession(ctx))
	err = s.readIn(ctx, "list requests", f.SessionID, func(c Conn, by caller) error {
		q := newQuery(`SELECT ` + requestColumns + ` FROM run_requests WHERE tenant_id = `)
		q.arg(by.TenantID)
		q.ofSession(s.dialect, by, f.SessionID)
		if f.RunID != "" {
			q.add(` AND run_id = `).arg(storable(f.RunID))
		}
		switch f.Status {
		case "":
		case RequestOpen:
			// In the text, so that the index of the open ones is used.
			q.add(` AND status = 'open'`)
		default:
			q.add(` AND status = `).arg(storable(f.Status))
		}
		if err := q.beyond(f.Cursor, "created_at", ">"); err != nil {
			return err
		}
		q.add(` ORDER BY created_at, id LIMIT `).arg(limit + 1)
		return c.Query(ctx, q.String(), func(r Row) error {
			list = append(list, RunRequest{})
			return r.Scan(list[len(list)-1].columns()...)
		}, q.args...)
	})
	if err != nil {
		return list, "", err
	}
	list, next = pageOf(list, limit, func(r *RunRequest) (time.Time, string) { return r.CreatedAt, r.ID })
	return list, next, nil
}

// Decide answers an open request and records by whom and when. A request that is not
// open, or has expired, is ErrDecided.
func (s *Store) Decide(ctx context.Context, id string, d Decision) (r RunRequest, err error) {
	if err := d.check(); err != nil {
		return RunRequest{}, missingFirst(ctx, err)
	}
	err = s.writeIn(ctx, "decide request", sharedSession(ctx), func(c Conn, by caller) error {
		var run string
		found, err := one(ctx, c, `SELECT run_id FROM run_requests`+ownRow, []any{&run}, by.TenantID, storable(id), by.user)
		if err != nil {
			return err
		}
		if !found {
			return notFound("request", id)
		}
		switch asks, err := lockRun(ctx, c, s.dialect, by, run); {
		case errors.Is(err, ErrNotFound) && by.author == "":
			return ErrDecided // DeleteRun deleted the run
		case err != nil:
			return err
		case by.author != "" && asks.SessionID != by.Shared.Session:
			return notFound("request", id)
		case asks.Author != by.author:
			return forbiddenf("another person's turn asks this, and only that person may answer: the tools run with that person's rights")
		}
		now := s.clock()
		found, err = one(ctx, c, `UPDATE run_requests SET status = $4, content = $5, comment = $6, decided_by = $7, decided_via = $8, decided_at = $9`+
			ownRow+` AND status = 'open' AND (expires_at IS NULL OR expires_at > $9) RETURNING `+requestColumns, r.columns(),
			by.TenantID, id, by.user, d.Status, by.seal.value("content", d.Content), by.seal.value("comment", null(d.Comment)), null(by.person().UserID), null(d.Via), now)
		if err != nil {
			return err
		}
		if !found {
			return ErrDecided
		}
		if err := countRequests(ctx, c, by.TenantID, run, -1, now); err != nil {
			return err
		}
		return s.audit(ctx, c, by.person(), AuditApproval, id, d.Status)
	})
	if err != nil {
		return RunRequest{}, err
	}
	return r, nil
}
