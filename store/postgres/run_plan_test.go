package postgres

import (
	"testing"

	"github.com/p8-org/p8/store"
)

// fillRuns gives the tenant t many runs that have ended, some that wait, and one
// in a hundred at work, with their logs, journals and requests.
func fillRuns(t testing.TB, e *engine) {
	t.Helper()
	err := e.WriteSystem(t.Context(), func(c store.Conn) error {
		for _, sql := range []string{
			`INSERT INTO runs (tenant_id, id, user_id, session_id, status, reason, idempotency_key, owner, created_at, updated_at, changed_at, rested_at, ended_at, open_requests)
				SELECT (ARRAY['t', 't1', 't2'])[1 + n % 3], gen_random_uuid()::text, (ARRAY[NULL, 'u', 'u1', 'u2', 'u3'])[1 + n % 5], 's' || n % 100,
				CASE n % 100 WHEN 0 THEN 'running' WHEN 1 THEN 'waiting' ELSE 'completed' END, '', 'k' || n, 'p', at, at, at,
				CASE WHEN n % 100 > 0 THEN at END, CASE WHEN n % 100 > 1 THEN at END, CASE n % 100 WHEN 1 THEN 1 ELSE 0 END
				FROM (SELECT n, now() - n * interval '1 minute' AS at FROM generate_series(1, 20000) AS n) AS x`,
			`INSERT INTO run_hooks (tenant_id, run_id, id, user_id, data, due_at, created_at)
				SELECT tenant_id, id, 'h', user_id, '{}', CASE status WHEN 'running' THEN created_at END, created_at FROM runs`,
			`INSERT INTO run_events (tenant_id, run_id, first_seq, last_seq, data)
				SELECT tenant_id, id, n, n, repeat('x', 100) FROM runs, generate_series(1, 5) AS n`,
			`INSERT INTO run_journal (tenant_id, run_id, seq, thread, data)
				SELECT tenant_id, id, n, '', '{}' FROM runs, generate_series(0, 2) AS n`,
			`INSERT INTO run_requests (tenant_id, id, user_id, run_id, session_id, kind, message, status, created_at, expires_at)
				SELECT tenant_id, gen_random_uuid()::text, user_id, id, session_id, 'approval', '', CASE status WHEN 'waiting' THEN 'open' ELSE 'accepted' END, created_at, created_at + interval '1 year'
				FROM runs`,
		} {
			if _, err := c.Exec(t.Context(), sql); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	analyze(t, e)
}
