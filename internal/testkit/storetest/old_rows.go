package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// OldRows: sessions that count rows which nobody sees, and moments without a time, are
// mended by the migration named shown, and after it. owner is the column of the user.
func OldRows(t *testing.T, d OldDatabase, shown, owner string) {
	must(t, d.Migrate(MigrationsBefore(t, d.Migrations, shown)))
	session := func(id, user string, messages, dropped int) {
		must(t, d.Exec(fmt.Sprintf(`INSERT INTO sessions (tenant_id, id, %s, message_count, dropped_messages, created_at, updated_at)
			VALUES ('one', '%s', '%s', %d, %d, %s, %[6]s)`, owner, id, user, messages, dropped, oldTime)))
	}
	message := func(id, user string, seq int, kind, path, content, deleted string) {
		must(t, d.Exec(fmt.Sprintf(`INSERT INTO messages (tenant_id, session_id, %s, seq, id, message_type, agent_path, content, created_at, updated_at, deleted_at)
			VALUES ('one', '%s', '%s', %d, '%[2]s-%[3]s-%[4]d', '%s', %s, %s, %s, %[8]s, %s)`, owner, id, user, seq, kind, path, content, oldTime, deleted)))
	}
	const path, said = `'general/reader'`, `'x'`
	session("asked", "alice", 5, 1)
	message("asked", "alice", 1, "user", "NULL", said, "NULL")
	message("asked", "alice", 2, "assistant", path, "NULL", oldTime) // dropped, and counted so
	message("asked", "alice", 3, "assistant", path, "NULL", "NULL")
	message("asked", "alice", 4, "assistant", path, "NULL", "NULL")
	message("asked", "alice", 5, "assistant", path, said, "NULL")
	message("asked", "alice", 6, "tool_call", path, "NULL", "NULL")
	session("plain", "alice", 1, 0)
	message("plain", "alice", 1, "assistant", "NULL", "NULL", "NULL")
	session("asked", "bob", 2, 0)
	message("asked", "bob", 1, "assistant", path, "NULL", "NULL")
	message("asked", "bob", 2, "user", "NULL", said, "NULL")
	const many, others = 2500, 3 // more than two batches, of two tenants
	for _, insert := range []string{
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO moments (tenant_id, id, name, created_at, updated_at)
			SELECT CASE WHEN i %% 2 = 0 THEN 'one' ELSE 'two' END, 'id-' || i, 'm-' || i, %s, %[2]s FROM n`,
		`INSERT INTO moments (tenant_id, id, user_id, name, starts_timestamp, ends_timestamp, created_at, updated_at) VALUES
			('one', 'e', 'alice', 'ended', NULL, '2025-03-01 09:00:00.000000', %[2]s, %[2]s),
			('one', 'b', 'alice', 'began', '2025-02-01 09:00:00.000000', '2025-03-01 09:00:00.000000', %[2]s, %[2]s),
			('zero', 'z', 'alice', 'last', NULL, NULL, %[2]s, %[2]s)`,
	} {
		must(t, d.Exec(fmt.Sprintf(insert, many, oldTime)))
	}

	s := d.Open()
	for _, c := range []struct {
		user, id    string
		shown, next int64
	}{{"alice", "asked", 3, 7}, {"alice", "plain", 1, 2}, {"bob", "asked", 1, 3}} {
		ctx := as("one", c.user)
		rows := get[[]store.Message](t)(s.Messages(ctx, c.id, store.MessageFilter{}))
		wantEqual(t, c.user+"'s "+c.id, []int64{get[store.Session](t)(s.Session(ctx, c.id)).Messages, int64(len(rows))}, []int64{c.shown, c.shown})
		m := userMessage("next")
		must(t, s.BeginTurn(ctx, store.Session{ID: c.id}, m))
		wantEqual(t, "the next number", m.Seq, c.next)
	}
	for _, want := range []int64{many + 2, 0} {
		wantEqual(t, "moments that got a time", get[int64](t)(s.Maintenance().TimeMoments(t.Context())), want)
	}
	n := get[int](t)(d.Count(`moments WHERE starts_timestamp = created_at AND updated_at = created_at`))
	wantEqual(t, "moments of the time of their creation", n, many+1)
	wantEqual(t, "all moments", get[int](t)(d.Count(`moments`)), many+others)
	for name, want := range map[string]time.Month{"ended": time.March, "began": time.February} {
		at := get[store.Moment](t)(s.Moments().ByName(as("one", "alice"), name)).StartsAt
		wantEqual(t, name, at.UTC(), time.Date(2025, want, 1, 9, 0, 0, 0, time.UTC))
	}
}
