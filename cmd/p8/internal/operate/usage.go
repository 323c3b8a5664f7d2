package operate

import (
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Usage is p8 usage.
type Usage struct {
	By      []string `help:"Dimensions of the rows, separated by commas: agent, model, user, day, session (agent,model)." placeholder:"DIMENSION,…"`
	Since   string   `default:"30d" help:"Only turns since then: a duration such as 7d or 12h, a day, or a time such as 2026-11-23T09:00:00Z (${default})." placeholder:"WHEN"`
	Until   string   `help:"Only turns before then." placeholder:"WHEN"`
	User    string   `short:"u" help:"Only turns of this user (e-mail address or id)."`
	Agent   string   `help:"Only turns of this agent."`
	Model   string   `help:"Only turns of this model, as provider:model."`
	Session string   `help:"Only turns of this session."`
	Limit   int      `short:"n" default:"1000" help:"Maximum number of rows (${default}). The total is of all."`
	Tenant  string   `help:"Tenant (default)."`
	peer.Elsewhere
	JSON bool `help:"Print JSON." xor:"form"`
	CSV  bool `name:"csv" help:"Print CSV." xor:"form"`
}

// Run prints a table, JSON or CSV. It works while a server has the database.
func (c *Usage) Run(a *command.App) error {
	f, err := c.filter(time.Now())
	if err != nil {
		return err
	}
	u := store.Usage{By: f.By, Rows: []store.UsageRow{}, Since: f.Since, Until: f.Until}
	err = peer.Read(a, command.Caller{Tenant: c.Tenant}, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) (err error) {
		switch {
		case r != nil:
			return r.Do(ctx, http.MethodGet, "usage", c.query(f), nil, &u)
		case s != nil:
			u, err = s.Usage(ctx, f)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, u)
	case c.CSV:
		return writeCSV(a.Stdout, &u)
	case len(u.Rows) == 0:
		a.SayEmpty("turns", true, "")
		return nil
	}
	if err := usageTable(&u).Table(a.Stdout); err != nil {
		return err
	}
	if u.Truncated {
		a.Say("there are more than %d rows: the total is of all, --limit shows more", len(u.Rows))
	}
	if n := u.Total.UnpricedTokens; n > 0 {
		a.Say("%s tokens are of models without a known price: `p8 models` lists prices", show.Thousands(int(n)))
	}
	return nil
}

func (c *Usage) filter(now time.Time) (f store.UsageFilter, err error) {
	if c.Limit < 1 || c.Limit > 10000 {
		return f, command.Usage("--limit is %d: give a number from 1 to 10000", c.Limit)
	}
	f = store.UsageFilter{By: c.By, User: c.User, Agent: c.Agent, Model: c.Model, Session: c.Session, Limit: c.Limit}
	for i, by := range f.By {
		if !slices.Contains(store.UsageDimensions(), by) || slices.Contains(f.By[:i], by) {
			return f, command.Usage("--by: %q is none of %s, or is named twice", show.OneLine(by), strings.Join(store.UsageDimensions(), ", "))
		}
	}
	if len(f.By) == 0 {
		f.By = []string{store.UsageAgent, store.UsageModel}
	}
	if strings.Contains(f.User, "@") {
		f.User = identity.UserID(f.User)
	}
	if f.Since, err = command.Moment("--since", c.Since, now); err != nil {
		return f, err
	}
	if f.Until, err = command.Moment("--until", c.Until, now); err != nil {
		return f, err
	}
	if !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return f, command.Usage("--until is not after --since")
	}
	return f, nil
}

// query returns the parameters of the route.
func (c *Usage) query(f store.UsageFilter) url.Values {
	q := url.Values{"by": {strings.Join(f.By, ",")}, "limit": {strconv.Itoa(f.Limit)}, "since": {f.Since.UTC().Format(time.RFC3339)}}
	peer.SetNonEmpty(q, "user", f.User, "agent", f.Agent, "model", f.Model, "session_id", f.Session)
	if !f.Until.IsZero() {
		q.Set("until", f.Until.UTC().Format(time.RFC3339))
	}
	return q
}

// keys are the values of a row's dimensions.
func keys(by []string, r *store.UsageRow) []string {
	cells := make([]string, len(by))
	for i, x := range by {
		cells[i] = map[string]string{
			store.UsageAgent: r.Agent, store.UsageModel: r.Model, store.UsageUser: r.User, store.UsageDay: r.Day, store.UsageSession: r.Session,
		}[x]
	}
	return cells
}

func usageTable(u *store.Usage) show.Grid {
	g := show.Grid{Columns: append(slices.Clone(u.By), "turns", "input", "cached", "output", "reasoning", "cost", "latency")}
	add := func(name []string, s *store.UsageSum) {
		n := func(x int64) string { return show.Thousands(int(x)) }
		latency := ""
		if s.AvgLatencyMS > 0 {
			latency = show.Seconds(time.Duration(s.AvgLatencyMS) * time.Millisecond)
		}
		g.Rows = append(g.Rows, append(name, n(s.Turns), n(s.InputTokens), n(s.CachedTokens), n(s.OutputTokens), n(s.ReasoningTokens), show.Money(s.CostUSD), latency))
	}
	for i := range u.Rows {
		add(keys(u.By, &u.Rows[i]), &u.Rows[i].UsageSum)
	}
	total := make([]string, len(u.By))
	total[0] = "total"
	add(total, &u.Total)
	return g
}

// writeCSV writes the rows without the total, which a spreadsheet would add to itself.
func writeCSV(w io.Writer, u *store.Usage) error {
	out := csv.NewWriter(w)
	_ = out.Write(append(slices.Clone(u.By), "turns", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "cost_usd", "unpriced_tokens", "avg_latency_ms"))
	for i := range u.Rows {
		r := &u.Rows[i]
		cells := keys(u.By, r)
		for j := range cells {
			if strings.IndexAny(cells[j], "=+-@\t\r") == 0 {
				cells[j] = "'" + cells[j] // no formula of whoever named a session
			}
		}
		for _, n := range []int64{r.Turns, r.InputTokens, r.CachedTokens, r.OutputTokens, r.ReasoningTokens} {
			cells = append(cells, strconv.FormatInt(n, 10))
		}
		cells = append(cells, strconv.FormatFloat(r.CostUSD, 'f', -1, 64), strconv.FormatInt(r.UnpricedTokens, 10), strconv.FormatInt(r.AvgLatencyMS, 10))
		_ = out.Write(cells)
	}
	out.Flush()
	return out.Error()
}
