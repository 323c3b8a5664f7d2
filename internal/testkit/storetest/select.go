package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/store"
)

// selects runs queries that people and models write; the golden file with the results is
// the same for every engine.
func selects(t *testing.T, open Open) {
	s := open(t)
	fillForSelect(t, s)
	var b strings.Builder
	for _, sql := range selectQueries {
		fmt.Fprintf(&b, "%s\n", sql)
		sel, err := s.Select(as("acme", "ann"), sql, store.SelectBounds{})
		if err != nil {
			t.Errorf("%s\n\t%v", sql, err)
			continue
		}
		writeSelection(t, &b, sel)
	}
	golden.Compare(t, "../../internal/testkit/storetest/testdata/select.golden", b.String())
}

// writeSelection writes a result, JSON with its keys in order.
func writeSelection(t *testing.T, b *strings.Builder, sel store.Selection) {
	t.Helper()
	fmt.Fprintf(b, "\t%s\n", strings.Join(sel.Columns, " | "))
	for _, row := range sel.Rows {
		var cells []string
		for _, v := range row {
			if raw, ok := v.(json.RawMessage); ok {
				var parsed any
				must(t, json.Unmarshal(raw, &parsed))
				again, err := json.Marshal(parsed)
				must(t, err)
				cells = append(cells, "json "+string(again))
				continue
			}
			cells = append(cells, fmt.Sprintf("%T %v", v, v))
		}
		fmt.Fprintf(b, "\t\t%s\n", strings.Join(cells, " | "))
	}
}

func moment(name, kind, at, until string, tags ...string) *store.Moment {
	parse := func(s string) (at time.Time) {
		if s != "" {
			at, _ = time.Parse(time.RFC3339Nano, s)
		}
		return at
	}
	return &store.Moment{Base: store.Base{Tags: tags}, Name: name, MomentType: kind, Summary: "About " + name,
		StartsAt: parse(at), EndsAt: parse(until)}
}

// fillForSelect writes rows of two tenants, of two users each, of anonymous callers, and of
// the system.
func fillForSelect(t *testing.T, s *store.Store) {
	t.Helper()
	ann := as("acme", "ann")
	must(t, s.PutSchema(ann, &store.Schema{Name: "dreaming-agent", Kind: "agent", Description: "Dreams",
		JSONSchema: json.RawMessage(`{"type":"object","temperature":0.7,"tools":[{"name":"search"},{"name":"action"}],"limits":{"total":50000},"structured_output":true}`)}))
	must(t, s.PutSchema(ann, &store.Schema{Name: "general", Kind: "agent", JSONSchema: json.RawMessage(`{"type":"object","temperature":null}`), Shared: true}))
	must(t, s.Resources().Put(ann,
		&store.Resource{Base: store.Base{Tags: []string{"tea", "green"}, Metadata: json.RawMessage(`{"pages":12,"author":{"name":"Zoë"},"draft":false}`)},
			Name: "Green Tea", Content: "Tea is made with water at 80 degrees.", Category: "drink", Ordinal: 1, Rating: 5, URI: "docs/tea.md"},
		&store.Resource{Base: store.Base{Tags: []string{"coffee"}, Metadata: json.RawMessage(`{"pages":3,"author":{"name":"Bob"},"draft":true}`)},
			Name: "Coffee", Content: "Coffee keeps people awake; 100% sure.", Category: "drink", Ordinal: 2, Rating: 4, URI: "docs/coffee.md"},
		&store.Resource{Base: store.Base{Tags: []string{"tea"}}, Name: "Ärger", Content: "O'Brien's_text", Ordinal: 3},
		&store.Resource{Base: store.Base{Shared: true}, Name: "Handbook", Content: "Everybody reads this.", Category: "rules", Ordinal: 4, Rating: 2},
	))
	must(t, s.Moments().Put(ann,
		moment("standup", "meeting", "2026-01-05T09:00:00Z", "2026-01-05T09:15:00Z", "team"),
		moment("review", "meeting", "2026-01-31T14:00:00.25Z", "2026-01-31T16:30:00Z", "team", "q1"),
		moment("night", "dream", "2026-02-01T03:00:00Z", "", "sleep"),
		moment("leap", "note", "2024-02-29T12:34:56.789012Z", "2024-03-01T00:00:00Z"),
	))
	must(t, s.Ontologies().Put(ann, &store.Ontology{Name: "Sarah", Content: "A person", Confidence: 0.875,
		ExtractedData: json.RawMessage(`{"born":1980}`), Base: store.Base{GraphEdges: []store.Edge{{Target: "project-x", Relation: "leads", Weight: 0.5}}}}))
	must(t, s.Files().Put(ann, &store.File{Name: "tea.md", URI: "docs/tea.md", Size: 2048, Status: store.FileCompleted}))
	must(t, s.Feedback().Put(ann, &store.Feedback{SessionID: "s1", Rating: 5, Comment: "good"}))
	must(t, s.Users().Put(ann, &store.User{Name: "Ann", Email: "ann@example.com", Interests: []string{"tea"}}))
	must(t, s.BeginTurn(ann, store.Session{ID: "s1", Name: "First", AgentName: "general"}, userMessage("Hello, world")))
	answer := func(content, model string, in, out int, ms int64) *store.Message {
		return &store.Message{SessionID: "s1", Type: store.MessageAssistant, Content: text(content), AgentName: "general",
			Model: model, InputTokens: in, OutputTokens: out, TokenCount: out, LatencyMS: ms}
	}
	must(t, s.Append(ann,
		&store.Message{SessionID: "s1", Type: store.MessageToolCall, ToolCalls: json.RawMessage(`{"name":"search","id":"c1","arguments":{"q":"tea"}}`)},
		&store.Message{SessionID: "s1", Type: store.MessageToolResponse, Content: text(strings.Repeat("result ", 30)), ToolCalls: json.RawMessage(`{"name":"search","id":"c1"}`)},
		answer("Tea it is.", "m:small", 100, 10, 1001), answer("Or coffee?", "m:small", 200, 20, 1002), answer("Water.", "m:large", 50, 5, 400)))

	// What the caller must never see, named so that a test can look for it.
	for _, other := range [][2]string{{"acme", "bob"}, {"umbra", "ann"}, {"umbra", "eve"}, {"umbra", ""}} {
		fillSecrets(t, s, other[0], other[1])
	}
	must(t, s.Resources().Put(as(identity.SystemTenant, ""), resource("System doc", "p8 explains itself.", true)))
	gone := &store.Resource{Name: "Gone", Content: secret}
	must(t, s.Resources().Put(ann, gone))
	must(t, s.Resources().Delete(ann, gone.ID))
}

const secret = Secret

// Secret is in the rows of other callers that [FillForSelect] writes.
const Secret = "s3cret-of-another"

// FillForSelect writes the rows for the queries of this package: those of ann of
// the tenant acme, and others with the Secret.
func FillForSelect(t *testing.T, s *store.Store) { fillForSelect(t, s) }

// fillSecrets writes a row of every table that holds the secret.
func fillSecrets(t *testing.T, s *store.Store, tenant, user string) {
	t.Helper()
	ctx := as(tenant, user)
	session := "secret-" + tenant + "-" + user
	must(t, s.PutSchema(ctx, &store.Schema{Name: secret, Kind: "agent", Description: secret, JSONSchema: json.RawMessage(`{"description":"` + secret + `"}`)}))
	must(t, s.Resources().Put(ctx, resource(secret, secret, false)))
	must(t, s.Ontologies().Put(ctx, &store.Ontology{Name: secret, Content: secret}))
	must(t, s.Moments().Put(ctx, &store.Moment{Name: secret, Summary: secret}))
	must(t, s.Files().Put(ctx, &store.File{Name: secret, URI: secret, ParsedContent: secret}))
	must(t, s.Feedback().Put(ctx, &store.Feedback{Comment: secret}))
	must(t, s.BeginTurn(ctx, store.Session{ID: session, Name: secret}, userMessage(secret)))
	if user != "" {
		must(t, s.Users().Put(ctx, &store.User{Name: secret, Email: "x@example.com"}))
	}
}

// selectScopes: every table shows each caller its own rows, and shared rows where the table
// has them.
func selectScopes(t *testing.T, open Open) {
	s := open(t)
	callers := [][2]string{{"acme", "ann"}, {"acme", "bob"}, {"acme", ""}, {"umbra", "ann"}, {"umbra", ""}}
	for _, c := range callers {
		fillSecrets(t, s, c[0], c[1])
	}
	fillSecrets(t, s, identity.SystemTenant, "")
	for _, table := range store.Tables() {
		if table.Name == store.ManualTable {
			continue
		}
		for _, c := range callers {
			sel, err := s.Select(as(c[0], c[1]), "SELECT tenant_id, user_id, deleted_at FROM "+table.Name, store.SelectBounds{})
			if err != nil {
				t.Fatalf("%s: %v", table.Name, err)
			}
			var got, want []string
			for _, row := range sel.Rows {
				got = append(got, fmt.Sprintf("%v/%v", row[0], row[1]))
			}
			own := fmt.Sprintf("%s/%s", c[0], c[1])
			if c[1] == "" {
				own = c[0] + "/<nil>"
			}
			if table.Name != "users" || c[1] != "" {
				want = append(want, own)
			}
			if !table.Private {
				want = append(want, c[0]+"/<nil>", identity.SystemTenant+"/<nil>")
			}
			slices.Sort(got)
			slices.Sort(want)
			wantEqual(t, fmt.Sprintf("%s of %v", table.Name, c), slices.Compact(got), slices.Compact(want))
		}
	}
}

// selectBounds: bounds on rows, bytes and time end a result.
func selectBounds(t *testing.T, open Open) {
	s := open(t)
	ann := as("acme", "ann")
	var rows []*store.Resource
	for i := range 300 {
		rows = append(rows, &store.Resource{Name: fmt.Sprintf("r%03d", i), Content: strings.Repeat("ä", 500), Ordinal: i})
	}
	must(t, s.Resources().Put(ann, rows...))
	count := func(sql string, b store.SelectBounds) (int, bool) {
		t.Helper()
		sel := get[store.Selection](t)(s.Select(ann, sql, b))
		return len(sel.Rows), sel.Truncated
	}
	for _, test := range []struct {
		sql       string
		bounds    store.SelectBounds
		rows      int
		truncated bool
	}{
		{"SELECT name FROM resources", store.SelectBounds{}, 300, false},
		{"SELECT name FROM resources", store.SelectBounds{Rows: 300}, 300, false},
		{"SELECT name FROM resources", store.SelectBounds{Rows: 299}, 299, true},
		{"SELECT name FROM resources", store.SelectBounds{Rows: 100}, 100, true},
		{"SELECT name FROM resources WHERE ordinal < 100", store.SelectBounds{}, 100, false},
		{"SELECT content FROM resources", store.SelectBounds{Bytes: 10_000}, 10, true},
		{"SELECT content FROM resources", store.SelectBounds{Bytes: 100}, 1, true},
		{"SELECT name FROM resources WHERE false", store.SelectBounds{}, 0, false},
	} {
		n, cut := count(test.sql, test.bounds)
		wantEqual(t, fmt.Sprintf("%s %+v", test.sql, test.bounds), []any{n, cut}, []any{test.rows, test.truncated})
	}
	plan := get[store.Selection](t)(s.Select(ann, "SELECT name FROM resources WHERE name = 'r001'", store.SelectBounds{Explain: true}))
	if !slices.Equal(plan.Columns, []string{"QUERY PLAN"}) || len(plan.Rows) == 0 || !strings.Contains(fmt.Sprint(plan.Rows), "resources") {
		t.Errorf("the plan is %v", plan)
	}

	began := time.Now()
	_, err := s.Select(ann, runaway, store.SelectBounds{Timeout: 300 * time.Millisecond})
	var mistake *store.SelectError
	if !errors.As(err, &mistake) || !strings.Contains(mistake.Problem, "longer than") {
		t.Errorf("a query without end gave %v", err)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("a bound of 300 ms ended it after %s", d)
	}
	// The stopped connection affects no other query.
	if n, _ := count("SELECT 1", store.SelectBounds{}); n != 1 {
		t.Error("the next SELECT has no row")
	}
}

const runaway = `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r`

// selectEscapes: every attempt to escape is refused, or shows no rows of others.
func selectEscapes(t *testing.T, open Open) {
	s := open(t)
	fillForSelect(t, s)
	for _, sql := range slices.Concat(Refused, Harmless) {
		began := time.Now()
		sel, err := s.Select(as("acme", "ann"), sql, store.SelectBounds{Timeout: time.Second})
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("%.100s\n\ttook %s", sql, d)
		}
		var mistake *store.SelectError
		switch {
		case err != nil && !errors.As(err, &mistake):
			t.Errorf("%s\n\tfailed: %v, want a SelectError", sql, err)
		case err == nil && slices.Contains(Refused, sql):
			t.Errorf("%s\n\twas run: %.300s", sql, fmt.Sprint(sel.Rows))
		case err != nil && strings.Contains(err.Error(), secret) && !strings.Contains(sql, secret),
			strings.Contains(fmt.Sprintf("%s", sel.Rows), secret):
			t.Errorf("%s\n\tshows rows of others: %.300s %v", sql, fmt.Sprint(sel.Rows), err)
		}
	}
	// Nothing was written, and the rows are still there.
	if n := get[int64](t)(s.Resources().Count(as("acme", "ann"), store.Filter{})); n != 5 {
		t.Errorf("%d resources, want 5", n)
	}
}
