package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/seal"
	"github.com/p8-org/p8/store"
)

// Encrypted returns the options of a store that encrypts the rows of some tenants with a list
// of keys.
func Encrypted(keys string, tenants ...string) store.Options {
	return store.Options{Encryption: store.Encryption{
		Master:  seal.Master{Ring: seal.New(seal.Options{Keys: keys, Purpose: "test"})},
		Tenants: func(tenant string) bool { return slices.Contains(tenants, tenant) },
	}}
}

// everybody is for tests whose callers are of any tenant.
func everybody() store.Options {
	o := Encrypted("one")
	o.Encryption.Tenants = func(string) bool { return true }
	return o
}

// Encryption checks the encryption of tenants: that nothing of their texts is in the database,
// that callers notice nothing, and what becomes of keys.
func Encryption(t *testing.T, open func(*testing.T) store.Engine) {
	for name, test := range map[string]func(*testing.T, store.Engine){
		"columns": encryptedColumns, "at rest": encryptedAtRest, "rows from before": encryptedLater, "keys": encryptedKeys,
		"moved": encryptedMoved, "select": encryptedSelect, "two processes": encryptedTwice,
		"erasure": func(t *testing.T, e store.Engine) { erasureWith(t, e, everybody()) },
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
	for name, test := range map[string]func(*testing.T, Open){
		"session found by words": sessionSearch, "session parts": chunks, "recall": recall, "branches": branches, "run claim": runClaim,
		"user metadata": userMetadata, "documents": documents, "linked moments": linked, "fuzzy": fuzzy, "search hybrid": searchHybrid,
		"search titles": searchTitles, "rebuild keys": rebuildKeys,
	} {
		t.Run("same/"+name, func(t *testing.T) {
			test(t, func(t *testing.T) *store.Store { return store.NewWith(open(t), everybody()) })
		})
	}
}

// readable are the columns with texts that are not encrypted: they identify, order or select
// rows, say how a row came about, or are documents of agents. [store.SealedColumns] are the
// others.
var readable = map[string]string{
	"runs":         "id user_id session_id agent_name agent_version agent_hash model status reason protocol client_id message_id in_reply_to author",
	"run_events":   "run_id",
	"run_journal":  "run_id thread",
	"run_hooks":    "run_id id user_id",
	"run_requests": "id user_id run_id session_id kind agent_path tool_name tool_id status decided_by decided_via",
	"sessions":     "id user_id agent_name mode client_id graph_edges tags",
	"messages": `id user_id session_id message_type status model agent_name agent_path run_id agent_run_id parent_tool_call_id trace_id
		span_id client_message_id author graph_edges tags`,
	"session_branches": "session_id",
	"session_shares":   "id owner session_id user_id role",
	"moments": `id user_id name moment_type image_uri present_persons emotion_tags topic_tags category source_session_id
		previous_moment_keys tags`,
	"feedback":           "id user_id session_id message_id trace_id span_id categories tags",
	"experiments":        "id user_id name status config",
	"evaluations":        "id user_id name experiment status",
	"evaluation_results": "evaluation_id",
	"resources":          "id user_id name uri category image_uri related_entities file_id tags",
	"ontologies":         "id user_id name uri category file_id agent_schema_id content_hash tags",
	"files":              "id user_id name uri mime_type processing_status thumbnail_uri content_hash tags",
	"schemas":            "id user_id name kind version description content json_schema source origin content_hash graph_edges metadata tags",
	"schema_timemachine": "schema_id name operation content json_schema source checksum user_id",
	"api_keys":           "id user_id email kind name role created_by made_with",
	"accounts":           "user_id email role created_by",
	"users":              "id user_id name email graph_edges tags",
}

// encryptedColumns: of each column with texts it is said whether it is encrypted.
func encryptedColumns(t *testing.T, _ store.Engine) {
	sealed := store.SealedColumns()
	for _, h := range store.Holdings() {
		for _, c := range h.Exported {
			hidden, seen := slices.Contains(sealed[h.Table], c.Name), slices.Contains(strings.Fields(readable[h.Table]), c.Name)
			if (c.Type == "text" || c.Type == "json") && hidden == seen {
				t.Errorf("%s.%s must be in store.SealedColumns or among the readable columns here, and in docs/encryption.md", h.Table, c.Name)
			}
		}
	}
}

// tell writes the word into every column that is sealed, and into no other.
func tell(t *testing.T, s *store.Store, ctx context.Context, word string) {
	t.Helper()
	run := newID()
	object := json.RawMessage(`{"a":"` + word + `"}`)
	base := store.Base{Metadata: object, GraphEdges: []store.Edge{{Target: "there", Reason: word}}}
	must(t, s.BeginRun(ctx, store.RunStart{
		Run:      store.Run{ID: run, Process: "p", Request: object},
		Session:  store.Session{ID: "s", Name: word, Description: word, Metadata: object},
		Messages: []*store.Message{{Type: store.MessageUser, Content: text(word + " said"), Parts: json.RawMessage(`["` + word + `"]`), Metadata: object}},
	}))
	request := newID()
	write(t, s, ctx, store.RunWrite{
		RunID: run, Events: []store.RunEvents{{First: 1, Last: 1, Data: []byte(`{"t":"` + word + `"}` + "\n")}},
		Journal:  []store.JournalEntry{{Data: object}},
		Requests: []store.RunRequest{{ID: request, Kind: "approval", Message: word, Arguments: object, Schema: object}},
		Messages: []*store.Message{{Type: store.MessageToolCall, ToolCalls: object}, {Type: store.MessageAssistant, Content: text(word + " answered")}},
	})
	get[store.RunRequest](t)(s.Decide(ctx, request, store.Decision{Status: store.RequestAccepted, Comment: word, Content: object}))
	must(t, s.PutChunk(ctx, store.Chunk{SessionID: "s", LastSeq: 2, Moment: &store.Moment{Name: "part", Summary: word}, Memory: &store.Message{Content: text(word)}}))
	get[store.Session](t)(s.PatchSession(ctx, "s", store.SessionPatch{Name: text(word + " again"), Metadata: object}))
	must(t, s.Moments().Put(ctx, &store.Moment{Name: "moment", Summary: word, Base: base}))
	must(t, s.Resources().Put(ctx, &store.Resource{Name: "note", Content: "# " + word + "\n" + word + " of the harvest", Comment: word, Base: base}))
	must(t, s.Ontologies().Put(ctx, &store.Ontology{Name: "page", Content: word, ExtractedData: object, Base: base}))
	must(t, s.Files().Put(ctx, &store.File{Name: "file", URI: "file", ParsedContent: word, ParsedOutput: object, Base: base}))
	must(t, s.Feedback().Put(ctx, &store.Feedback{Comment: word, Base: base}))
	must(t, s.Users().Put(ctx, &store.User{Name: "u", Content: word, Interests: []string{word}, Topics: []string{word}, Metadata: object}))
	get[[]store.Linked](t)(s.PutLinked(ctx, "seen", &store.Moment{Name: "link", Base: store.Base{GraphEdges: []store.Edge{{Target: "note", Reason: word}}}}))
	judged := store.Evaluation{Name: "judged", Status: "running", Plan: object, Summary: object}
	must(t, s.Evaluations().Begin(ctx, &judged))
	must(t, s.Evaluations().PutResults(ctx, judged.ID, store.EvaluationResult{Seq: 1, Data: object}))
	embedAll(t, s)
}

// foundIn counts the columns, by table, in whose rows the word is.
func foundIn(t *testing.T, e store.Engine, word string) map[string][]string {
	t.Helper()
	in := map[string][]string{}
	for table, columns := range schemaOf(t, e) {
		if table == "keywords" && e.Dialect() == store.DialectSQLite {
			if count(t, e, table, nil, word) > 0 {
				in[table] = []string{"text"}
			}
			continue
		}
		for _, column := range columns {
			var n int
			must(t, e.ReadSystem(t.Context(), func(c store.Conn) error {
				return c.Query(t.Context(), `SELECT count(*) FROM `+table+` WHERE CAST(`+column+` AS TEXT) LIKE '%' || $1 || '%'`,
					func(r store.Row) error { return r.Scan(&n) }, word)
			}))
			if n > 0 {
				in[table] = append(in[table], column)
			}
		}
	}
	return in
}

// encryptedAtRest: no column of any table has a word of an encrypted tenant, and each sealed
// one has that of another tenant.
func encryptedAtRest(t *testing.T, e store.Engine) {
	s := get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("one", "secret")))
	tell(t, s, as("plain", "u"), "xyloplain")
	tell(t, s, as("secret", "u"), "xylosecret")
	if in := foundIn(t, e, "xylosecret"); len(in) > 0 {
		t.Errorf("the word of the encrypted tenant is in %v", in)
	}
	in := foundIn(t, e, "xyloplain")
	for table, columns := range store.SealedColumns() {
		for _, column := range columns {
			if !slices.Contains(in[table], column) {
				t.Errorf("the test tells nothing of %s.%s", table, column)
			}
		}
	}
	sameAnswers(t, s)
}

// shown returns what is compared of each row.
func shown[T any](list []T, of func(T) any) []any {
	all := make([]any, len(list))
	for i, x := range list {
		all[i] = of(x)
	}
	return all
}

// sameAnswers compares what the tenants plain and secret read.
func sameAnswers(t *testing.T, s *store.Store) {
	t.Helper()
	answers := func(tenant, word string) string {
		ctx := as(tenant, "u")
		var b strings.Builder
		add := func(what string, v any, err error) {
			t.Helper()
			must(t, err)
			raw, err := json.Marshal(v)
			must(t, err)
			b.WriteString(what + " " + string(raw) + "\n")
		}
		for _, q := range []string{word, "harvests", "answering " + word} {
			rows, err := s.Search(ctx, store.SearchQuery{Text: q, Hybrid: true})
			add("search", shown(rows, func(m store.Match) any { return []any{m.Key, m.Summary, m.Score} }), err)
			list, _, err := s.Sessions(ctx, store.SessionFilter{Words: q})
			add("sessions", shown(list, func(x store.Session) any { return []any{x.ID, x.Name, x.Title, x.Match.Excerpt} }), err)
		}
		rows, err := s.Fuzzy(ctx, word, 0, 0)
		add("fuzzy", shown(rows, func(m store.Match) any { return []any{m.Key, m.Type, m.Summary, m.Score} }), err)
		rows, err = s.Lookup(ctx, "note")
		add("lookup", shown(rows, func(m store.Match) any { return []any{m.Key, m.Summary} }), err)
		links, err := s.Inward(ctx, []string{"note"}, nil, 0)
		add("inward", shown(links, func(l store.Link) any { return l.Key }), err)
		found, err := s.Nodes(ctx, []string{"note", "moment", "page"})
		add("nodes", shown(found, func(n store.Node) any { return []any{n.Key, n.Summary, n.Metadata, n.Edges} }), err)
		r, err := s.Recall(ctx, store.RecallQuery{SessionID: "s", Moments: 5, User: true, Runs: true})
		add("recall", []any{r.Session.Name, r.Session.Description, r.User.Content, r.User.Interests, len(r.Runs),
			shown(r.Messages, func(m store.Message) any { return []any{m.Content, m.ToolCalls, m.Metadata} }),
			shown(r.Covering, func(m store.Moment) any { return m.Summary })}, err)
		var keys map[string]json.RawMessage
		must(t, json.Unmarshal(r.Session.Metadata, &keys))
		add("metadata", []any{keys["a"], keys["latest_summary"]}, nil)
		messages, err := s.Messages(ctx, "s", store.MessageFilter{Parts: true})
		add("messages", shown(messages, func(m store.Message) any { return []any{m.Content, m.Parts} }), err)
		events, err := s.RunEvents(ctx, r.Runs[0].ID, 0, 0)
		add("events", shown(events, func(e store.RunEvents) any { return string(e.Data) }), err)
		journal, err := s.RunJournal(ctx, r.Runs[0].ID)
		add("journal", journal, err)
		sel, err := s.Select(ctx, `SELECT summary, metadata FROM moments ORDER BY name`, store.SelectBounds{})
		add("select", sel.Rows, err)
		exported := 0
		must(t, s.Export(ctx, func(_ string, row json.RawMessage) error {
			exported += strings.Count(string(row), word)
			return nil
		}))
		add("exported", exported, nil)
		return strings.ReplaceAll(b.String(), word, "WORD")
	}
	wantEqual(t, "answers", answers("secret", "xylosecret"), answers("plain", "xyloplain"))
}

// encryptedLater: rows from before are read beside sealed ones, and sealed by a command that
// may be repeated.
func encryptedLater(t *testing.T, e store.Engine) {
	plain := store.New(e)
	tell(t, plain, as("plain", "u"), "xyloplain")
	tell(t, plain, as("secret", "u"), "xylosecret")
	s := get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("one", "secret")))
	sameAnswers(t, s)
	must(t, s.Append(as("secret", "u"), &store.Message{SessionID: "s", Type: store.MessageUser, Content: text("mixed in")}))
	must(t, s.Append(as("plain", "u"), &store.Message{SessionID: "s", Type: store.MessageUser, Content: text("mixed in")}))
	sameAnswers(t, s)
	tables := 0
	n := get[int64](t)(s.Maintenance().EncryptRows(t.Context(), func(tenant, table string, rows int64) {
		if tables++; tenant != "secret" || rows == 0 {
			t.Errorf("%d rows of %s in %s", rows, table, tenant)
		}
	}))
	if tables != len(store.SealedColumns()) || n == 0 {
		t.Errorf("%d rows in %d tables", n, tables)
	}
	if in := foundIn(t, e, "xylosecret"); len(in) > 0 {
		t.Errorf("the word of the encrypted tenant is in %v", in)
	}
	sameAnswers(t, s)
	wantEqual(t, "again", get[int64](t)(s.Maintenance().EncryptRows(t.Context(), func(string, string, int64) {})), int64(0))
	wantEqual(t, "waiting for vectors", len(get[[]store.EmbeddingTask](t)(s.Maintenance().EmbeddingTasks(t.Context(), 0))), 0)
}

// encryptedKeys: a store without the key does not open, and a key can be replaced.
func encryptedKeys(t *testing.T, e store.Engine) {
	ctx := as("secret", "u")
	begin(t, get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("one", "secret"))), ctx, "s", "hello")
	for what, o := range map[string]store.Options{"no key": {}, "another key": Encrypted("two", "secret")} {
		_, err := store.Open(t.Context(), e, o)
		wantErr(t, what, err, store.ErrSealed)
		if err == nil || !strings.Contains(err.Error(), "P8_SECRET_KEY") || !strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", what, err)
		}
	}
	s := get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("two,one", "secret")))
	rotated, same, err := s.Maintenance().RotateDataKeys(t.Context())
	must(t, err)
	wantEqual(t, "rotated", []int{rotated, same}, []int{1, 0})
	rotated, same, err = s.Maintenance().RotateDataKeys(t.Context())
	must(t, err)
	wantEqual(t, "again", []int{rotated, same}, []int{0, 1})
	// A tenant that is not encrypted any more keeps what it has.
	s = get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("two")))
	must(t, s.Append(ctx, &store.Message{SessionID: "s", Type: store.MessageUser, Content: text("xyloplain")}))
	wantEqual(t, "messages", each(get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{})), func(m store.Message) string { return *m.Content }),
		[]string{"hello", "xyloplain"})
	wantEqual(t, "in the open", len(foundIn(t, e, "xyloplain")["messages"]), 1)
}

// encryptedMoved: a value does not open in the row of another tenant, nor in another column, nor
// changed. What a person writes is never taken for one.
func encryptedMoved(t *testing.T, e store.Engine) {
	s := get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("one", "secret", "other")))
	ctx, other := as("secret", "u"), as("other", "u")
	put := func(ctx context.Context, content string) {
		must(t, s.Resources().Put(ctx, &store.Resource{Name: "note", Content: content, Comment: "a comment"}))
	}
	for _, tc := range []struct{ what, sql string }{
		{"another tenant", `UPDATE resources SET content = (SELECT x.content FROM resources x WHERE x.tenant_id = 'other') WHERE tenant_id = 'secret'`},
		{"another column", `UPDATE resources SET content = comment WHERE tenant_id = 'secret'`},
		{"cut", `UPDATE resources SET content = substr(content, 1, length(content) - 8) WHERE tenant_id = 'secret'`},
		{"the mark alone", `UPDATE resources SET content = substr(content, 1, 1) WHERE tenant_id = 'secret'`},
		{"changed", `UPDATE resources SET content = replace(substr(content, 1, 40) || 'A' || substr(content, 42), 'content:', 'content:') || 'AAAA' WHERE tenant_id = 'secret'`},
	} {
		put(ctx, "mine")
		put(other, "theirs")
		get[store.Resource](t)(s.Resources().ByName(ctx, "note"))
		must(t, e.WriteSystem(t.Context(), func(c store.Conn) error {
			_, err := c.Exec(t.Context(), tc.sql)
			return err
		}))
		r, err := s.Resources().ByName(ctx, "note")
		wantErr(t, tc.what, err, store.ErrSealed)
		if r.Content != "" || strings.Contains(err.Error(), "content") {
			t.Errorf("%s: %q, %v", tc.what, r.Content, err)
		}
		must(t, e.WriteSystem(t.Context(), func(c store.Conn) error {
			_, err := c.Exec(t.Context(), `UPDATE resources SET content = '' WHERE tenant_id = 'secret'`)
			return err
		}))
	}
	put(other, "theirs")
	var stored string
	must(t, e.ReadSystem(t.Context(), func(c store.Conn) error {
		return c.Query(t.Context(), `SELECT content FROM resources WHERE tenant_id = 'other'`, func(r store.Row) error { return r.Scan(&stored) })
	}))
	for _, tenant := range []string{"secret", "plain"} {
		put(as(tenant, "u"), stored)
		r := get[store.Resource](t)(s.Resources().ByName(as(tenant, "u"), "note"))
		if strings.Contains(r.Content, "theirs") || !strings.HasSuffix(stored, r.Content) {
			t.Errorf("%s: %q", tenant, r.Content)
		}
		must(t, s.PutSession(as(tenant, "u"), store.Session{ID: "s", Name: stored, Metadata: json.RawMessage(`{"a":"` + stored + `"}`)}))
		if name := get[store.Session](t)(s.Session(as(tenant, "u"), "s")).Name; name != r.Content {
			t.Errorf("%s: %q", tenant, name)
		}
	}
}

// encryptedSelect: a SELECT reads encrypted columns as they are, and computes with none.
func encryptedSelect(t *testing.T, e store.Engine) {
	s := get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("one", "secret")))
	ctx := as("secret", "u")
	must(t, s.Resources().Put(ctx, &store.Resource{Name: "note", Content: "harvest", Category: "farm", Base: store.Base{Metadata: json.RawMessage(`{"a":1}`)}}))
	sel := get[store.Selection](t)(s.Select(ctx, `SELECT content AS c, metadata, name FROM resources WHERE category = 'farm'`, store.SelectBounds{}))
	raw, err := json.Marshal(sel.Rows)
	must(t, err)
	wantEqual(t, "rows", string(raw), `[["harvest",{"a":1},"note"]]`)
	for _, sql := range []string{`SELECT left(content, 10) FROM resources`, `SELECT left(content, 40) FROM resources`, `SELECT 'x' || content FROM resources`, `SELECT metadata::text || '' FROM resources`} {
		_, err := s.Select(ctx, sql, store.SelectBounds{})
		if wrong := (*store.SelectError)(nil); !errors.As(err, &wrong) || !strings.Contains(wrong.Problem, "encrypted") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	wantEqual(t, "no condition matches", len(get[store.Selection](t)(s.Select(ctx, `SELECT name FROM resources WHERE content LIKE '%harvest%'`, store.SelectBounds{})).Rows), 0)
}

// encryptedTwice: two processes that begin at the same time use one data key.
func encryptedTwice(t *testing.T, e store.Engine) {
	a := get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("one", "secret")))
	b := get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("one", "secret")))
	old := get[*store.Store](t)(store.Open(t.Context(), e, Encrypted("one")))
	ctx := as("secret", "u")
	begin(t, a, ctx, "a", "from a")
	begin(t, b, ctx, "b", "from b")
	for _, s := range []*store.Store{a, b} {
		for _, id := range []string{"a", "b"} {
			wantEqual(t, id, *get[[]store.Message](t)(s.Messages(ctx, id, store.MessageFilter{}))[0].Content, "from "+id)
		}
	}
	// A process that started before learns of the key with the first value that it cannot open.
	_, err := old.Messages(ctx, "a", store.MessageFilter{})
	wantErr(t, "an unknown key", err, store.ErrSealed)
	wantEqual(t, "then", *get[[]store.Message](t)(old.Messages(ctx, "a", store.MessageFilter{}))[0].Content, "from a")
}
