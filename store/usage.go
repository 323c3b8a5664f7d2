package store

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"
)

// The dimensions of a usage report.
const (
	UsageAgent   = "agent"
	UsageModel   = "model"
	UsageUser    = "user"
	UsageDay     = "day"
	UsageSession = "session"
)

// UsageDimensions returns the dimensions by which usage is reported.
func UsageDimensions() []string {
	return []string{UsageAgent, UsageModel, UsageUser, UsageDay, UsageSession}
}

// UsageFilter chooses what a usage report sums up, and by what.
type UsageFilter struct {
	// By are the dimensions of the rows; agent and model by default.
	By []string
	// Since and Until bound the time: since <= created_at < until; zero is no bound.
	Since, Until time.Time
	// User, Agent, Model and Session choose rows with that value; "" is no bound.
	User, Agent, Model, Session string
	// Limit is the most rows, 1000 by default and at most 10000.
	Limit int
}

// Usage is what models consumed.
type Usage struct {
	// Since and Until are those of the filter.
	Since time.Time  `json:"since,omitzero"`
	Until time.Time  `json:"until,omitzero"`
	By    []string   `json:"by"`
	Rows  []UsageRow `json:"rows"`
	// Total is of all rows, also of those that Limit left out; then Truncated is true.
	Total     UsageSum `json:"total"`
	Truncated bool     `json:"truncated,omitempty"`
}

// UsageRow is a row of a report. The dimensions that it is not by are "", and so is the user of
// anonymous callers.
type UsageRow struct {
	Agent   string `json:"agent,omitempty"`
	Model   string `json:"model,omitempty"`
	User    string `json:"user,omitempty"`
	Day     string `json:"day,omitempty"`
	Session string `json:"session,omitempty"`
	UsageSum
}

// UsageSum adds up turns: each is what one agent consumed of one model in one run.
type UsageSum struct {
	Turns        int64 `json:"turns"`
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CachedTokens are part of the input, ReasoningTokens of the output.
	CachedTokens    int64 `json:"cached_tokens"`
	ReasoningTokens int64 `json:"reasoning_tokens"`
	// CostUSD is of the models with a known price; UnpricedTokens are those of the others.
	CostUSD        float64 `json:"cost_usd"`
	UnpricedTokens int64   `json:"unpriced_tokens,omitempty"`
	// AvgLatencyMS is the mean time of the turns whose time is known.
	AvgLatencyMS int64 `json:"avg_latency_ms,omitempty"`

	latency, timed int64
}

func (u *UsageSum) add(o UsageSum) {
	u.Turns += o.Turns
	u.InputTokens += o.InputTokens
	u.OutputTokens += o.OutputTokens
	u.CachedTokens += o.CachedTokens
	u.ReasoningTokens += o.ReasoningTokens
	u.CostUSD += o.CostUSD
	u.UnpricedTokens += o.UnpricedTokens
	u.latency += o.latency
	u.timed += o.timed
}

// finish computes the mean, and rounds the money: sums of fractions have noise.
func (u *UsageSum) finish() {
	const finest = 1e9
	u.CostUSD = math.Round(u.CostUSD*finest) / finest
	if u.timed > 0 {
		u.AvgLatencyMS = (u.latency + u.timed/2) / u.timed
	}
}

// check returns the filter with its defaults.
func (f UsageFilter) check() (UsageFilter, error) {
	if len(f.By) == 0 {
		f.By = []string{UsageAgent, UsageModel}
	}
	for i, by := range f.By {
		switch {
		case !slices.Contains(UsageDimensions(), by):
			return f, invalidf("usage is not reported by %.32q, but by %s", by, strings.Join(UsageDimensions(), ", "))
		case slices.Contains(f.By[:i], by):
			return f, invalidf("usage is reported by %s once", by)
		}
	}
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return f, invalidf("the time of a usage report ends before it begins")
	}
	f.Limit = page(f.Limit, 1000, 10000)
	return f, nil
}

// Usage reports what models consumed in the caller's tenant: all of it to an admin, to others
// what they consumed themselves, in their own sessions and in those of others. Deleted messages
// count until they are gone: their tokens are paid for.
func (s *Store) Usage(ctx context.Context, f UsageFilter) (u Usage, err error) {
	if f, err = f.check(); err != nil {
		return u, missingFirst(ctx, err)
	}
	err = s.read(ctx, "report usage", func(c Conn, by caller) error {
		if err := by.owns(); err != nil {
			return err
		}
		u = Usage{Since: f.Since, Until: f.Until, By: f.By, Rows: []UsageRow{}}
		q := f.query(s.dialect, by)
		err := c.Query(ctx, q.String(), func(r Row) error {
			x, err := f.scan(r)
			if err != nil {
				return err
			}
			u.Total.add(x.UsageSum)
			if u.Truncated = len(u.Rows) == f.Limit; !u.Truncated {
				x.finish()
				u.Rows = append(u.Rows, x)
			}
			return nil
		}, q.args...)
		u.Total.finish()
		return err
	})
	return u, err
}

// usageSums are the columns of a UsageSum.
const usageSums = `COUNT(*), SUM(input_tokens), SUM(output_tokens), SUM(cached_tokens), SUM(reasoning_tokens), SUM(cost_usd),
	SUM(CASE WHEN cost_usd > 0 THEN 0 ELSE input_tokens + output_tokens END), SUM(COALESCE(latency_ms, 0)), COUNT(latency_ms)`

func (f *UsageFilter) query(d Dialect, by caller) *query {
	spender := d.orElse(`author`, d.ownerOf(``)) // a guest spends in the session of its host
	column := map[string]string{
		UsageAgent: `COALESCE(agent_name, '')`, UsageModel: `COALESCE(model, '')`, UsageUser: spender,
		UsageDay: d.dayOf(`created_at`), UsageSession: `session_id`,
	}
	groups := make([]string, len(f.By))
	order := `6 DESC, 2 DESC`
	for i, by := range f.By {
		groups[i] = column[by]
	}
	keys := strings.Join(groups, `, `)
	if f.By[0] == UsageDay {
		order = column[UsageDay] + ` DESC, ` + order
	}
	q := newQuery(`SELECT ` + usageSums + `, ` + keys + ` FROM messages WHERE message_type = '` + MessageAssistant + `' AND tenant_id = `)
	q.arg(by.TenantID)
	if !f.Since.IsZero() {
		q.add(` AND created_at >= `).arg(f.Since.UTC())
	}
	if !f.Until.IsZero() {
		q.add(` AND created_at < `).arg(f.Until.UTC())
	}
	if !by.Administers() {
		q.add(` AND ` + spender + ` = `).arg(by.Identity.Payer())
	}
	for dimension, value := range map[string]string{UsageUser: f.User, UsageAgent: f.Agent, UsageModel: f.Model, UsageSession: f.Session} {
		if value != "" {
			q.add(` AND ` + column[dimension] + ` = `).arg(storable(value))
		}
	}
	// Turns that no model was asked for, or that cost nothing, are none.
	q.add(` AND (input_tokens > 0 OR output_tokens > 0) GROUP BY ` + keys + ` ORDER BY ` + order + `, ` + keys)
	return q
}

func (f *UsageFilter) scan(r Row) (x UsageRow, err error) {
	place := map[string]*string{UsageAgent: &x.Agent, UsageModel: &x.Model, UsageUser: &x.User, UsageDay: &x.Day, UsageSession: &x.Session}
	to := []any{&x.Turns, &x.InputTokens, &x.OutputTokens, &x.CachedTokens, &x.ReasoningTokens, &x.CostUSD, &x.UnpricedTokens, &x.latency, &x.timed}
	for _, by := range f.By {
		to = append(to, place[by])
	}
	return x, r.Scan(to...)
}
