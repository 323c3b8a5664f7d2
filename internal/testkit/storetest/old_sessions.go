package storetest

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/p8-org/p8/store"
)

// OldDatabase is an empty database without any migration.
type OldDatabase struct {
	// Migrations are all migrations of the engine; Owner names the one that makes sessions
	// unique per owner.
	Migrations fs.FS
	Owner      string
	Migrate    func(fs.FS) error
	Exec       func(sql string) error
	Count      func(table string) (int, error)
	Open       func() *store.Store
}

// MigrationsBefore returns the migrations with a lower number than the one named.
func MigrationsBefore(t testing.TB, all fs.FS, name string) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(all, "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d migrations: %v", len(names), err)
	}
	files := fstest.MapFS{}
	for _, base := range names {
		if base >= name {
			continue
		}
		text, err := fs.ReadFile(all, base)
		if err != nil {
			t.Fatal(err)
		}
		files[base] = &fstest.MapFile{Data: text}
	}
	return files
}

// SessionOwnerMigration: a database of the version before keeps every row, also if the
// migration fails at its end and runs again.
func SessionOwnerMigration(t *testing.T, d OldDatabase) {
	files := MigrationsBefore(t, d.Migrations, d.Owner)
	must(t, d.Migrate(files))
	for _, insert := range oldSessions() {
		if err := d.Exec(insert); err != nil {
			t.Fatalf("%s: %v", insert, err)
		}
	}
	unchanged := func(when string) {
		t.Helper()
		got := make(map[string]int)
		for table := range oldSessionRows {
			n, err := d.Count(table)
			must(t, err)
			got[table] = n
		}
		if !maps.Equal(got, oldSessionRows) {
			t.Errorf("%v rows %s, want %v", got, when, oldSessionRows)
		}
	}
	text, err := fs.ReadFile(d.Migrations, d.Owner)
	must(t, err)
	files[d.Owner] = &fstest.MapFile{Data: append(text[:len(text):len(text)], "\nSELECT no_such_function();"...)}
	if err := d.Migrate(files); err == nil || !strings.Contains(err.Error(), "no_such_function") {
		t.Fatalf("a migration that fails at its end: %v", err)
	}
	unchanged("after a failed migration")
	s := d.Open()
	unchanged("after the migration")
	checkOldSessions(t, s)
	checkOldEdges(t, d, s)
}

// ToolCallMigration: the rows of an asked agent keep the call that asked it when the
// migration with this name renames its column.
func ToolCallMigration(t *testing.T, d OldDatabase, name string) {
	must(t, d.Migrate(MigrationsBefore(t, d.Migrations, d.Owner)))
	for _, insert := range oldSessions() {
		must(t, d.Exec(insert))
	}
	must(t, d.Migrate(MigrationsBefore(t, d.Migrations, name)))
	must(t, d.Exec(`UPDATE messages SET parent_call_id = 'call_1' WHERE session_id = 'mine' AND seq = 2`))
	var calls []string
	for _, m := range get[[]store.Message](t)(d.Open().Messages(as("one", "alice"), "mine", store.MessageFilter{})) {
		calls = append(calls, m.ParentToolCallID)
	}
	wantEqual(t, "the calls of the rows", calls, []string{"", "call_1", ""})
}

// checkOldEdges: edges that an older program stored without an index are indexed in Go,
// which normalises their targets.
func checkOldEdges(t *testing.T, d OldDatabase, s *store.Store) {
	t.Helper()
	const row = `'default', '', 'sarah-chen', 'ontology'`
	must(t, d.Exec(`INSERT INTO kv_store (tenant_id, owner, entity_key, entity_type, entity_id, content_summary, graph_edges, updated_at)
		VALUES (`+row+`, 'o1', '', '[{"dst":"Émile Zola","rel_type":"Reports_To"}]', `+oldTime+`)`))
	must(t, d.Exec(`INSERT INTO kv_edges_waiting (tenant_id, owner, entity_key, entity_type) VALUES (`+row+`), ('default', '', 'gone', 'ontology')`))
	for _, want := range []int64{2, 0} {
		wantEqual(t, "indexed keys", get[int64](t)(s.Maintenance().IndexEdges(t.Context())), want)
	}
	links := get[[]store.Link](t)(s.Inward(as("default", "u"), []string{"émile-zola"}, []string{"reports-to"}, 10))
	wantEqual(t, "edges of an older program", links,
		[]store.Link{{Target: "émile-zola", Key: "sarah-chen", Type: store.TypeOntology, TenantID: "default", Relation: "Reports_To", Weight: 1}})
}

// oldSessionRows are how many rows of each table oldSessions writes.
var oldSessionRows = map[string]int{"sessions": 4, "messages": 8, "moments": 1, "runs": 1, "run_requests": 1}

const oldTime = `'2026-01-02 03:04:05.000006'`

// oldSessions fills a database that has the migrations before session_owner: sessions
// with and without a user, a deleted one, one id in two tenants, hidden messages, a
// run that waits and a part that is summed up.
func oldSessions() []string {
	session := func(tenant, id, user string, messages, dropped, tokens int, deleted string) string {
		return fmt.Sprintf(`INSERT INTO sessions (tenant_id, id, user_id, name, agent_name, mode, message_count, dropped_messages, total_tokens,
			summary_seq, summary_tokens, chunks, metadata, created_at, updated_at, deleted_at)
			VALUES ('%s', '%s', %s, 'named', 'general', 'chat', %d, %d, %d, %d, %d, %d, '{"a":1}', %s, %s, %s)`,
			tenant, id, user, messages, dropped, tokens, min(2, messages-1), 10*min(2, messages-1), min(1, messages-1), oldTime, oldTime, deleted)
	}
	message := func(tenant, id, user string, seq int, deleted string) string {
		return fmt.Sprintf(`INSERT INTO messages (tenant_id, session_id, seq, id, user_id, message_type, content, parts, token_count, cost_usd, run_id,
			metadata, created_at, updated_at, deleted_at)
			VALUES ('%s', '%s', %d, '%s-%s-%d', %s, 'user', 'message %d', '[1]', 10, 0.5, 'run', '{"b":2}', %s, %s, %s)`,
			tenant, id, seq, tenant, id, seq, user, seq, oldTime, oldTime, deleted)
	}
	list := []string{
		session("one", "mine", "'alice'", 3, 1, 30, "NULL"),
		session("one", "free", "NULL", 2, 0, 20, "NULL"),
		session("one", "gone", "'bob'", 1, 0, 10, oldTime),
		session("two", "mine", "'alice'", 1, 0, 10, "NULL"),
		fmt.Sprintf(`INSERT INTO moments (tenant_id, id, user_id, name, moment_type, summary, source_session_id, first_seq, last_seq, created_at, updated_at)
			VALUES ('one', 'm', 'alice', 'part', 'session_chunk', 'the first two', 'mine', 1, 2, %s, %s)`, oldTime, oldTime),
		fmt.Sprintf(`INSERT INTO runs (tenant_id, id, user_id, session_id, status, owner, open_requests, created_at, updated_at, rested_at)
			VALUES ('one', 'r', 'alice', 'mine', 'waiting', 'p', 1, %s, %s, %s)`, oldTime, oldTime, oldTime),
		fmt.Sprintf(`INSERT INTO run_requests (tenant_id, id, user_id, run_id, session_id, kind, message, status, created_at)
			VALUES ('one', 'q', 'alice', 'r', 'mine', 'approval', 'may I?', 'open', %s)`, oldTime),
	}
	for seq := 1; seq <= 4; seq++ {
		deleted := "NULL"
		if seq == 3 {
			deleted = oldTime
		}
		list = append(list, message("one", "mine", "'alice'", seq, deleted))
	}
	return append(list, message("one", "free", "NULL", 1, "NULL"), message("one", "free", "NULL", 2, "NULL"),
		message("one", "gone", "'bob'", 1, oldTime), message("two", "mine", "'alice'", 1, "NULL"))
}

// checkOldSessions: all rows of oldSessions exist after the migrations and stay usable;
// other callers may use the same ids.
func checkOldSessions(t *testing.T, s *store.Store) {
	t.Helper()
	alice, bob, anonymous, other := as("one", "alice"), as("one", "bob"), as("one", ""), as("two", "alice")
	sess := get[store.Session](t)(s.Session(alice, "mine"))
	wantEqual(t, "session", []any{sess.TenantID, sess.UserID, sess.Name, sess.AgentName, sess.Mode, sess.Messages, sess.TotalTokens,
		sess.SummarySeq, sess.SummaryTokens, sess.Chunks, string(sess.Metadata) != "", sess.CreatedAt.UTC().Format("2006-01-02 15:04:05.000000")},
		[]any{"one", "alice", "named", "general", "chat", int64(3), 30, int64(2), 20, 1, true, "2026-01-02 03:04:05.000006"})
	seqs := func(ctx context.Context, id string) (list []int64) {
		t.Helper()
		for _, m := range get[[]store.Message](t)(s.Messages(ctx, id, store.MessageFilter{Parts: true})) {
			wantEqual(t, "message", []any{*m.Content, string(m.Parts), m.TokenCount, m.CostUSD, m.RunID, string(m.Metadata) != ""},
				[]any{fmt.Sprint("message ", m.Seq), "[1]", 10, 0.5, "run", true})
			list = append(list, m.Seq)
		}
		return list
	}
	wantEqual(t, "messages of alice", seqs(alice, "mine"), []int64{1, 2, 4})
	wantEqual(t, "messages without a user", seqs(anonymous, "free"), []int64{1, 2})
	wantEqual(t, "messages of another tenant", seqs(other, "mine"), []int64{1})
	_, err := s.Session(bob, "gone")
	wantErr(t, "a deleted session", err, store.ErrNotFound)
	wantErr(t, "a turn in a deleted session", s.BeginTurn(bob, store.Session{ID: "gone"}, userMessage("x")), store.ErrNotFound)
	rec := get[store.Recalled](t)(s.Recall(alice, store.RecallQuery{SessionID: "mine", Moments: 3, Runs: true}))
	wantEqual(t, "recalled", []int{len(rec.Messages), len(rec.Moments), len(rec.Covering), len(rec.Runs)}, []int{3, 1, 1, 1})
	requests, _, err := s.Requests(alice, store.RequestFilter{SessionID: "mine"})
	must(t, err)
	wantEqual(t, "requests", len(requests), 1)
	list, _, err := s.Sessions(alice, store.SessionFilter{})
	must(t, err)
	wantEqual(t, "sessions of alice", len(list), 1)
	for who, want := range map[context.Context]int64{alice: 4, anonymous: 2, other: 1} {
		found, _, err := s.Sessions(who, store.SessionFilter{Words: "messages"})
		must(t, err)
		wantEqual(t, "found by its words", []any{len(found), found[0].Match.Seq}, []any{1, want})
	}

	for _, c := range []struct {
		ctx context.Context
		id  string
		seq int64
	}{{alice, "mine", 5}, {anonymous, "free", 3}, {other, "mine", 2}, {bob, "mine", 1}, {bob, "free", 1}, {anonymous, "mine", 1}, {alice, "gone", 1}} {
		m := userMessage("next")
		must(t, s.BeginTurn(c.ctx, store.Session{ID: c.id}, m))
		wantEqual(t, "next message of "+c.id, m.Seq, c.seq)
	}
}

// OldWords: a search finds what was said before the migration with this name indexed the
// words of messages, in every script.
func OldWords(t *testing.T, d OldDatabase, name string) {
	must(t, d.Migrate(MigrationsBefore(t, d.Migrations, d.Owner)))
	for _, insert := range oldSessions() {
		must(t, d.Exec(insert))
	}
	must(t, d.Migrate(MigrationsBefore(t, d.Migrations, name)))
	must(t, d.Exec(`UPDATE messages SET content = 'Ein Café, <мой> ёж/Йод: がんばって 東京 세계 नमस्ते' WHERE session_id = 'mine' AND seq = 4`))
	s := d.Open()
	for _, words := range []string{"cafe", "Café", "мой", "ёж", "ЙОД", "がんばって", "東京", "세계", "नमस्ते"} {
		found, _, err := s.Sessions(as("one", "alice"), store.SessionFilter{Words: words})
		must(t, err)
		wantEqual(t, "sessions about "+words, len(found), 1)
	}
	for _, other := range []context.Context{as("one", "bob"), as("one", ""), as("two", "alice")} {
		found, _, err := s.Sessions(other, store.SessionFilter{Words: "мой"})
		must(t, err)
		wantEqual(t, "sessions of others", len(found), 0)
	}
}
