package bench

import (
	"log/slog"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store/postgres"
	"github.com/p8-org/p8/tool"
)

// TestTurnRoundTrips bounds what a stored turn with two tools costs in round trips to
// PostgreSQL.
func TestTurnRoundTrips(t *testing.T) {
	database := harness.Postgres(t, "")
	trips := storetest.CountTrips(t, database)
	s, err := postgres.Open(t.Context(), postgres.Options{URL: trips.URL, MaxConns: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	both := scripted.Call("weather", `{"city":"Lisbon"}`)
	both.Calls = append(both.Calls, llm.ToolCall{ID: "call_2", Name: "weather", Arguments: `{"city":"Porto"}`})
	model := func() llm.Model {
		return scripted.NewWith(scripted.Options{Repeat: true}, both, scripted.Text("It is clear ", "in both."))
	}
	var c client
	// A call that acts is stored before it is made, one that only reads with its result.
	reads, acts := serviceWith(t, model(), s, tool.Annotations{ReadOnly: true}), serviceWith(t, model(), s, tool.Annotations{})
	on := func(turns *chat.Service) func() {
		return func() {
			c.sessions = 0
			c.turn(t, turns, ignore)
		}
	}
	for _, x := range []struct {
		name string
		most int
		turn func()
	}{
		{"tools that read, a new session", 4, func() { c.turn(t, reads, ignore) }},
		{"tools that read, a session that goes on", 4, on(reads)},
		{"tools that act", 5, on(acts)},
	} {
		x.turn() // prepares its statements, makes the session
		x.turn()
		// What is written together is so for a moment, which a busy machine may miss.
		n := trips.Of(x.turn)
		for range 9 {
			n = min(n, trips.Of(x.turn))
		}
		t.Logf("%s: %d round trips", x.name, n)
		if n > x.most {
			t.Errorf("%s: a stored turn with two tools is %d round trips, want at most %d", x.name, n, x.most)
		}
	}
}
