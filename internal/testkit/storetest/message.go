package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

func messages(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	first := begin(t, s, ctx, "a", "x")
	begin(t, s, ctx, "b", "x")

	// Two sessions in one transaction, or none.
	rows := []*store.Message{
		{SessionID: "a", Type: store.MessageThink, Content: text("1")}, {SessionID: "a", Type: store.MessageThink, Content: text("2")},
		{SessionID: "b", Type: store.MessageThink, Content: text("3")}, {SessionID: "a", Type: store.MessageThink, Content: text("4")},
	}
	must(t, s.Append(ctx, rows...))
	wantEqual(t, "numbers", []int64{rows[0].Seq, rows[1].Seq, rows[2].Seq, rows[3].Seq}, []int64{2, 3, 2, 4})
	wantErr(t, "half a batch", s.Append(ctx, &store.Message{SessionID: "a", Type: store.MessageThink},
		&store.Message{SessionID: "none", Type: store.MessageThink}), store.ErrNotFound)
	wantEqual(t, "after half a batch", len(get[[]store.Message](t)(s.Messages(ctx, "a", store.MessageFilter{}))), 4)

	got := get[store.Message](t)(s.Message(ctx, rows[1].ID))
	wantEqual(t, "by id", got, *rows[1])
	wantEqual(t, "by number", get[store.Message](t)(s.MessageBySeq(ctx, "a", 3)), *rows[1])
	_, err := s.MessageBySeq(ctx, "a", 9)
	wantErr(t, "no such number", err, store.ErrNotFound)
	_, err = s.Message(ctx, "no uuid")
	wantErr(t, "no such id", err, store.ErrNotFound)

	// An id given by the caller is kept, once.
	own := &store.Message{ID: "0192f6a0-0000-7000-8000-000000000001", SessionID: "a", Type: store.MessageAssistant, Content: text("x")}
	must(t, s.FinishTurn(ctx, own, ""))
	wantEqual(t, "given id", get[store.Message](t)(s.Message(ctx, own.ID)), *own)
	again := *own
	wantErr(t, "an id twice", s.Append(ctx, &again), store.ErrConflict)
	if first.ID >= rows[0].ID {
		t.Errorf("ids do not grow with time: %s, %s", first.ID, rows[0].ID)
	}
}

func messageFilter(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	begin(t, s, ctx, "s", "x")
	var rows []*store.Message
	for i := range 19 {
		rows = append(rows, &store.Message{SessionID: "s", Type: []string{store.MessageAssistant, store.MessageToolCall, store.MessageThink}[i%3]})
	}
	must(t, s.Append(ctx, rows...))
	for _, c := range []struct {
		filter store.MessageFilter
		want   []int64
	}{
		{store.MessageFilter{AfterSeq: 17}, []int64{18, 19, 20}},
		{store.MessageFilter{BeforeSeq: 3}, []int64{1, 2}},
		{store.MessageFilter{AfterSeq: 3, BeforeSeq: 7}, []int64{4, 5, 6}},
		{store.MessageFilter{Last: 2}, []int64{19, 20}},
		{store.MessageFilter{Last: 2, BeforeSeq: 10}, []int64{8, 9}},
		{store.MessageFilter{Limit: 2}, []int64{1, 2}},
		{store.MessageFilter{Limit: 2, AfterSeq: 5}, []int64{6, 7}},
		{store.MessageFilter{Types: []string{store.MessageUser, store.MessageAssistant}, Last: 3}, []int64{14, 17, 20}},
		{store.MessageFilter{Types: []string{store.MessageMemory}}, nil},
		{store.MessageFilter{AfterSeq: 100}, nil},
	} {
		var got []int64
		for _, m := range get[[]store.Message](t)(s.Messages(ctx, "s", c.filter)) {
			got = append(got, m.Seq)
		}
		wantEqual(t, fmt.Sprintf("%+v", c.filter), got, c.want)
	}
}

// roundTrip: an engine stores these values unchanged.
func roundTrip(t *testing.T, open Open) {
	s := open(t)
	ctx := as("tenant ü", "user 日本")
	begin(t, s, ctx, "s", "x")
	huge := strings.Repeat("0123456789 äöü\n", 400_000)
	at := time.Date(2026, 2, 3, 4, 5, 6, 7008, time.FixedZone("", 3600))
	full := store.Message{
		SessionID: "s", Type: store.MessageAssistant, Content: &huge, ToolCalls: json.RawMessage(`{ "z":1, "a" : [ 1.50, 1e3, "\u00e9" ],"a":2}`),
		Status: store.StatusLength, TokenCount: 1, InputTokens: 2, OutputTokens: 3, CostUSD: 0.000123, LatencyMS: 4, Model: "openai:gpt", AgentName: "general",
		AgentPath: "general/child", RunID: "r", AgentRunID: "c", ParentToolCallID: "call", TraceID: "tr", SpanID: "sp", Metadata: json.RawMessage(`{"b":1,  "a":"ü"}`), CreatedAt: at,
	}
	empty := store.Message{SessionID: "s", Type: store.MessageToolCall}
	blank := store.Message{SessionID: "s", Type: store.MessageAssistant, Content: text("")}
	must(t, s.Append(ctx, &full, &empty, &blank))
	for i, want := range []store.Message{full, empty, blank} {
		got := get[store.Message](t)(s.Message(ctx, want.ID))
		if got.Content != nil && want.Content != nil && *got.Content != *want.Content {
			t.Fatalf("message %d: the content has %d bytes, want %d", i, len(*got.Content), len(*want.Content))
		}
		wantEqual(t, "message", got, want)
		// A call is replayed to a model exactly as it was made.
		wantEqual(t, "tool calls", string(got.ToolCalls), string(want.ToolCalls))
	}
	if want := at.UTC().Truncate(time.Microsecond); !full.CreatedAt.Equal(want) || full.CreatedAt.Location() != time.UTC {
		t.Errorf("created_at is %v, want %v", full.CreatedAt, want)
	}

	for _, content := range []string{"", " ", "'; DROP TABLE messages; --", "$1 ?1", "\u0001\u007f", "👩‍👩‍👧 e\u0301", "a\r\nb"} {
		m := store.Message{SessionID: "s", Type: store.MessageUser, Content: text(content)}
		must(t, s.Append(ctx, &m))
		wantEqual(t, "content", *get[store.Message](t)(s.Message(ctx, m.ID)).Content, content)
	}
	// Every engine replaces what PostgreSQL cannot store.
	m := store.Message{SessionID: "s", Type: store.MessageUser, Content: text("a\x00b\xffc")}
	must(t, s.Append(ctx, &m))
	wantEqual(t, "given content", *m.Content, "a\uFFFDb\uFFFDc")
	wantEqual(t, "stored content", *get[store.Message](t)(s.Message(ctx, m.ID)).Content, "a\uFFFDb\uFFFDc")
	m = store.Message{SessionID: "s", Type: store.MessageToolCall, ToolCalls: json.RawMessage(`{"a":"\u0000"}`), Metadata: json.RawMessage(`{"\ud800":"\\u0000 \ud83d\ude42"}`)}
	must(t, s.Append(ctx, &m))
	got := get[store.Message](t)(s.Message(ctx, m.ID))
	wantEqual(t, "stored JSON", []json.RawMessage{got.ToolCalls, got.Metadata}, []json.RawMessage{json.RawMessage(`{"a":"\ufffd"}`), json.RawMessage(`{"\ufffd":"\\u0000 🙂"}`)})
}

// messageParts: the images of a message are stored unchanged, and read only on request.
func messageParts(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	parts := json.RawMessage(`[{"kind":"image","media_type":"image/png","data":"` + strings.Repeat("iVBORw0K", 100_000) + `"}, {"kind":"document","url":"https://example.com/a.pdf"}]`)
	m := store.Message{Type: store.MessageUser, Content: text(""), Parts: parts}
	must(t, s.BeginTurn(ctx, store.Session{ID: "s"}, &m, userMessage("x")))
	must(t, s.FinishTurn(ctx, &store.Message{SessionID: "s", Type: store.MessageAssistant, Content: text("y"), CostUSD: 0.25}, ""))

	whole := get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{Parts: true}))
	wantEqual(t, "parts of a list", []string{string(whole[0].Parts), string(whole[1].Parts), string(whole[2].Parts)}, []string{string(parts), "", ""})
	wantEqual(t, "parts by id", string(get[store.Message](t)(s.Message(ctx, m.ID)).Parts), string(parts))
	wantEqual(t, "parts by number", len(get[store.Message](t)(s.MessageBySeq(ctx, "s", 1)).Parts), 0)
	list := get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{}))
	wantEqual(t, "parts that nobody asked for", len(list[0].Parts), 0)
	wantEqual(t, "cost", []float64{list[0].CostUSD, list[2].CostUSD}, []float64{0, 0.25})

	sel := get[store.Selection](t)(s.Select(ctx, `SELECT * FROM messages ORDER BY seq`, store.SelectBounds{}))
	cost := slices.Index(sel.Columns, "cost_usd")
	if cost < 0 || slices.Contains(sel.Columns, "parts") {
		t.Fatalf("SELECT * shows the columns %v", sel.Columns)
	}
	wantEqual(t, "cost in SQL", sel.Rows[2][cost], 0.25)
	var mistake *store.SelectError
	if _, err := s.Select(ctx, `SELECT parts FROM messages`, store.SelectBounds{}); !errors.As(err, &mistake) {
		t.Errorf("SELECT parts gave %v", err)
	}
}

func invalid(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	begin(t, s, ctx, "s", "x")
	long := strings.Repeat("x", 40<<20)
	for what, m := range map[string]*store.Message{
		"type":       {Type: "robot"},
		"id":         {ID: "7", Type: store.MessageUser},
		"tool calls": {Type: store.MessageUser, ToolCalls: json.RawMessage(`{`)},
		"metadata":   {Type: store.MessageUser, Metadata: json.RawMessage(`[]`)},
		"blank":      {Type: store.MessageUser, Metadata: json.RawMessage(` `)},
		"size":       {Type: store.MessageUser, Content: &long},
		"parts":      {Type: store.MessageUser, Parts: json.RawMessage(`{}`)},
		"bad parts":  {Type: store.MessageUser, Parts: json.RawMessage(`[`)},
		"much":       {Type: store.MessageUser, Parts: json.RawMessage(`["` + long[:24<<20] + `"]`)},
		"cost":       {Type: store.MessageAssistant, CostUSD: -1},
		"no cost":    {Type: store.MessageAssistant, CostUSD: math.Inf(1)},
	} {
		m.SessionID = "s"
		wantErr(t, what, s.Append(ctx, m), store.ErrInvalid)
		wantErr(t, what, s.FinishTurn(ctx, m, ""), store.ErrInvalid)
		wantErr(t, what, s.BeginTurn(ctx, store.Session{ID: "s"}, m), store.ErrInvalid)
	}
	wantErr(t, "session metadata", s.BeginTurn(ctx, store.Session{ID: "s", Metadata: json.RawMessage(`1`)}, userMessage("x")), store.ErrInvalid)
	for _, name := range []string{"", "!!!", "a\nb", strings.Repeat("x", 256)} {
		wantErr(t, "schema "+name, s.PutSchema(ctx, &store.Schema{Name: name}), store.ErrInvalid)
		wantErr(t, "resource "+name, s.Resources().Put(ctx, &store.Resource{Name: name}), store.ErrInvalid)
		wantErr(t, "user "+name, s.Users().Put(ctx, &store.User{Name: name}), store.ErrInvalid)
	}
	wantErr(t, "schema JSON", s.PutSchema(ctx, &store.Schema{Name: "a", JSONSchema: json.RawMessage(`{"a"`)}), store.ErrInvalid)
	wantErr(t, "tenant", s.Append(identity.With(t.Context(), identity.Identity{TenantID: "a\x00"})), store.ErrInvalid)
	wantEqual(t, "messages", len(get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{}))), 1)
}

// concurrency: 32 goroutines write and read at once; nothing fails, and no number is used
// twice or skipped.
func concurrency(t *testing.T, open Open) {
	s := open(t)
	const workers, turns = 32, 8
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			ctx := as("t", fmt.Sprint("user", w%4))
			mine, ours := fmt.Sprint("s", w), fmt.Sprint("shared", w%4)
			for range turns {
				for _, id := range []string{mine, ours} {
					if err := s.BeginTurn(ctx, store.Session{ID: id}, userMessage("x")); err != nil {
						t.Error(err)
						return
					}
					err := s.Append(ctx, &store.Message{SessionID: id, Type: store.MessageToolCall}, &store.Message{SessionID: id, Type: store.MessageToolResponse})
					if err == nil {
						err = s.FinishTurn(ctx, &store.Message{SessionID: id, Type: store.MessageAssistant, Content: text("y")}, "")
					}
					if err == nil {
						err = s.Resources().Put(ctx, &store.Resource{Name: fmt.Sprint("note ", w), Content: id})
					}
					if err == nil {
						_, err = s.Messages(ctx, id, store.MessageFilter{Last: 10})
					}
					if err == nil {
						_, _, err = s.Sessions(ctx, store.SessionFilter{})
					}
					var list []store.Match
					if err == nil {
						list, err = s.Fuzzy(ctx, fmt.Sprint("note ", w), 0, 0)
					}
					if err != nil {
						t.Error(err)
						return
					}
					if len(list) == 0 || list[0].Summary != id {
						t.Errorf("FUZZY does not see what its caller just wrote: %v", list)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	for w := range workers {
		ctx := as("t", fmt.Sprint("user", w%4))
		for id, want := range map[string]int{fmt.Sprint("s", w): 4 * turns, fmt.Sprint("shared", w%4): 4 * turns * workers / 4} {
			list := get[[]store.Message](t)(s.Messages(ctx, id, store.MessageFilter{}))
			for i, m := range list {
				if m.Seq != int64(i+1) {
					t.Fatalf("session %s: number %d stands at %d", id, m.Seq, i+1)
				}
			}
			wantEqual(t, id, len(list), want)
			wantEqual(t, id, get[store.Session](t)(s.Session(ctx, id)).Messages, int64(want))
		}
	}
}
