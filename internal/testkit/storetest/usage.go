package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// usage: the report of p8's users over three models, with an agent that was asked, and the
// totals of the run.
func usage(t *testing.T, open Open) {
	s := open(t)
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann", ClientID: "mobile"})
	const call = "call_1"
	run, child := newID(), newID()
	must(t, s.BeginRun(ctx, store.RunStart{
		Run:     store.Run{ID: run, AgentName: "general", Process: "p"},
		Session: store.Session{ID: "s"}, Messages: []*store.Message{userMessage("x")},
	}))
	said := func(path, name, model string, in, out int, cost float64, ms int64) *store.Message {
		return &store.Message{Type: store.MessageAssistant, AgentName: name, AgentPath: path, Model: model,
			InputTokens: in, OutputTokens: out, CostUSD: cost, LatencyMS: ms, RunID: run}
	}
	asked := said("general/reader", "reader", "m:small", 1000, 100, 0.25, 40)
	asked.AgentRunID, asked.ParentToolCallID = child, call
	query := said("general/rem-query-agent", "rem-query-agent", "m:tiny", 500, 5, 0.125, 4)
	answer := said("", "general", "m:large", 200, 20, 0.5, 100)
	answer.Content = text("y")
	total := store.Consumed{InputTokens: 1700, OutputTokens: 125, CostUSD: 0.875}
	write(t, s, ctx, store.RunWrite{
		RunID: run, Status: store.RunCompleted, Reason: "stop", Consumed: total,
		Messages: []*store.Message{asked, query}, Answer: answer,
	})

	got := get[store.Run](t)(s.Run(ctx, run))
	wantEqual(t, "the run's total", got.Consumed, total)
	wantEqual(t, "the run's client", got.ClientID, "mobile")
	wantEqual(t, "the conversation", len(get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{}))), 2)
	wantEqual(t, "all rows", len(get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{Shares: true}))), 4)
	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "what the conversation counts", sess.Messages, int64(2))
	day := get[store.FeedDay](t)(s.Diary().Day(ctx, answer.CreatedAt.Format(time.DateOnly), nil))
	wantEqual(t, "what the day counts", []int{day.Messages, day.Sessions[0].Messages}, []int{2, 2})
	wantEqual(t, "the session's client", sess.ClientID, "mobile")
	row := get[store.Message](t)(s.Message(ctx, asked.ID))
	wantEqual(t, "the asked agent's row", []string{row.AgentRunID, row.ParentToolCallID}, []string{child, call})

	res := get[store.Selection](t)(s.Select(ctx, `SELECT agent_name, model,
       COUNT(*)             AS turns,
       SUM(input_tokens)    AS total_input,
       SUM(output_tokens)   AS total_output,
       AVG(latency_ms)::int AS avg_latency_ms
FROM messages
WHERE message_type = 'assistant' AND input_tokens > 0
GROUP BY agent_name, model
ORDER BY total_input DESC;`, store.SelectBounds{}))
	raw, err := json.Marshal(res.Rows)
	must(t, err)
	wantEqual(t, "the report", string(raw), `[`+
		`["reader","m:small",1,1000,100,40],`+
		`["rem-query-agent","m:tiny",1,500,5,4],`+
		`["general","m:large",1,200,20,100]]`)

	// A new answer in place of the old one: shares stay uncounted, numbers are not given again.
	again := newID()
	must(t, s.BeginRun(ctx, store.RunStart{
		Run:     store.Run{ID: again, AgentName: "general", Process: "p", InReplyTo: get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{}))[0].ID},
		Session: store.Session{ID: "s"}, After: after(1),
	}))
	wantEqual(t, "after the answer was dropped", get[store.Session](t)(s.Session(ctx, "s")).Messages, int64(1))
	share, other := said("general/reader", "reader", "m:small", 1, 1, 0, 1), said("", "general", "m:large", 1, 1, 0, 1)
	other.Content = text("z")
	write(t, s, ctx, store.RunWrite{RunID: again, Status: store.RunCompleted, Reason: "stop", Messages: []*store.Message{share}, Answer: other})
	wantEqual(t, "after the new answer", []int64{get[store.Session](t)(s.Session(ctx, "s")).Messages, other.Seq}, []int64{2, 6})

	// Another client of the session: a turn without one keeps the last client.
	must(t, s.BeginTurn(identity.With(ctx, identity.Identity{TenantID: "acme", UserID: "ann", ClientID: "web"}), store.Session{ID: "s"}, userMessage("z")))
	must(t, s.BeginTurn(as("acme", "ann"), store.Session{ID: "s"}, userMessage("z")))
	wantEqual(t, "the session's client", get[store.Session](t)(s.Session(ctx, "s")).ClientID, "web")
}
