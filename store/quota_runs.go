package store

import (
	"context"

	"github.com/p8-org/p8/identity"
)

// RunsAllowed is how many runs may be under way when one more begins, itself included; 0 is any
// number.
type RunsAllowed struct{ Tenant, User int }

// TooManyRunsError means that a tenant or a user has as many runs as RunsAllowed says.
type TooManyRunsError struct {
	// Kind is tenant or user.
	Kind string
}

// Error names the kind.
func (e *TooManyRunsError) Error() string {
	return "the " + e.Kind + " has as many runs under way as it may have"
}

// payerOfRun is caller.payer for a run of the table.
const payerOfRun = `CASE WHEN COALESCE(author, user_id, '') = '` + anonymousOwner + `'
	OR substr(COALESCE(author, user_id, ''), 1, length('` + identity.VisitorPrefix + `')) = '` + identity.VisitorPrefix + `'
	THEN '' ELSE COALESCE(author, user_id, '') END`

// countRuns fails if too many runs are under way; run is the one that begins or goes on, which
// the transaction has written. The writers of one tenant wait for each other, so that two of
// them cannot both take the last place.
func countRuns(ctx context.Context, c Conn, tenant, run string, most RunsAllowed) error {
	if most == (RunsAllowed{}) {
		return nil
	}
	if err := c.Later(ctx, Statement{
		SQL: `INSERT INTO quota_usage (tenant_id, kind, subject) VALUES ($1, 'tenant', '')
			ON CONFLICT (tenant_id, kind, subject) DO UPDATE SET requests = quota_usage.requests`, Args: []any{tenant},
	}); err != nil {
		return err
	}
	const running = `(SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND status = 'running' AND rested_at IS NULL`
	for _, s := range []struct {
		kind, where string
		most        int
		args        []any
	}{
		{QuotaTenant, `) <= $2`, most.Tenant, nil},
		{QuotaUser, ` AND ` + payerOfRun + ` = (SELECT ` + payerOfRun + ` FROM runs WHERE tenant_id = $1 AND id = $3)) <= $2`, most.User, []any{run}},
	} {
		if s.most == 0 {
			continue
		}
		if err := c.Later(ctx, Statement{
			SQL: `SELECT 1 WHERE ` + running + s.where, Args: append([]any{tenant, s.most}, s.args...),
			Missing: func() error { return &TooManyRunsError{s.kind} },
		}); err != nil {
			return err
		}
	}
	return nil
}
