package knowledge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/testkit/corpus"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

const (
	// rate is the number of queries a second, askers that of concurrent ones.
	rate, askers = 1000, 16
	// bound is the longest time of a query, grace an allowance for a busy machine.
	bound, grace = 2 * time.Second, 3 * time.Second
)

// fuzzedQueries runs random mutations of the examples, always the same ones: no query may
// panic, fail with an undocumented error, or exceed its bound.
func fuzzedQueries(t *testing.T, p *place) {
	seconds := size(t, "P8_TEST_SECONDS", harness.Count(t, 1, 10))
	seeds := append(examples(t), about(1000)...)
	s := p.open(t)
	defer s.Close()
	engine := rem.New(rem.Options{
		Knowledge: s, Embedder: offlineModel(t), Hybrid: true, Timeout: bound, Logger: slog.New(slog.DiscardHandler),
	})
	var (
		mu      sync.Mutex
		kinds   = map[string]int{}
		slowest time.Duration
		slow    string
	)
	ask := func(i int) {
		query := mutate(seeds, i)
		began := time.Now()
		res, err := engine.Run(as(t, "", ""), query)
		took := time.Since(began)
		kind := kindOf(res, err)
		if kind == "" {
			t.Errorf("query %d, %q: %v", i, query, err)
		}
		mu.Lock()
		defer mu.Unlock()
		kinds[kind]++
		if took > slowest {
			slowest, slow = took, query
		}
		if took > bound+grace {
			t.Errorf("query %d, %q: took %s", i, query, took)
		}
	}
	var group sync.WaitGroup
	queue := make(chan int)
	for range askers {
		group.Go(func() {
			for i := range queue {
				ask(i)
			}
		})
	}
	began := time.Now()
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	n := seconds * rate
	for i := range n {
		// A late asker does not wait.
		if time.Until(began.Add(time.Duration(i)*time.Second/rate)) > 0 {
			<-tick.C
		}
		queue <- i
	}
	close(queue)
	group.Wait()
	took := time.Since(began)
	t.Logf("%d queries in %s: %.0f a second; the slowest took %s: %q; %v", n, took.Round(time.Millisecond),
		float64(n)/took.Seconds(), slowest.Round(time.Millisecond), slow, kinds)
}

// kindOf sorts an answer; "" is an error that no query may have.
func kindOf(res rem.Result, err error) string {
	var syntax *rem.SyntaxError
	switch {
	case err == nil && len(res.Results) > 0:
		return "found"
	case err == nil:
		return "nothing found"
	case errors.As(err, &syntax):
		return "SyntaxError"
	case errors.Is(err, rem.ErrTimeout):
		return "ErrTimeout"
	case errors.Is(err, store.ErrInvalid):
		return "ErrInvalid"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, store.ErrBusy): // more at once than the machine can do
		return "ErrBusy"
	}
	return ""
}

// pieces are texts that mutations put into queries.
var pieces = strings.Split("LOOKUP|FUZZY|SEARCH|TRAVERSE|SQL|SELECT|EXPLAIN|REM|WITH|FROM|IN|TABLE|FIELD|WHERE|CATEGORY|TYPE|DEPTH|LIMIT|LOAD|"+
	"THRESHOLD|MIN_SIMILARITY|HYBRID|ORDER BY|GROUP BY|UNION ALL|JOIN|name|content|resources|moments|messages|schemas|kv_store|pg_catalog.pg_class|"+
	"sarah-chen|'|\"|\\|;|--|/*|*/|(|)|[|]|,|=|*|%|_|$1|$$|::int|->>'a'|NULL|-1|0|1|5|100|1e308|99999999999999999999|0.3|NaN|"+
	"\x00|\xff|é|漢字|🙂|\u202e|\t|\n| |a|tenant_id|user_id|now()|count(*)|repeat('x', 1000000)|generate_series(1, 1000000000)|"+
	"limit=5|where=\"1=1\"|table=resources|depth=9", "|")

// mutate is query i: one or two of the seeds, changed in up to six places.
func mutate(seeds []string, i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	q := seeds[r.IntN(len(seeds))]
	if r.IntN(4) == 0 {
		other := seeds[r.IntN(len(seeds))]
		q = q[:r.IntN(len(q)+1)] + other[r.IntN(len(other)+1):]
	}
	for range r.IntN(7) {
		at := r.IntN(len(q) + 1)
		to := min(len(q), at+r.IntN(12))
		switch r.IntN(7) {
		case 0, 1:
			q = q[:at] + pieces[r.IntN(len(pieces))] + q[at:]
		case 2:
			q = q[:at] + " " + pieces[r.IntN(len(pieces))] + " " + q[at:]
		case 3:
			q = q[:at] + q[to:]
		case 4:
			q = q[:at] + strings.Repeat(q[at:to], 1+r.IntN(20)) + q[to:]
		case 5:
			q = strings.Replace(q, " ", fmt.Sprintf(" %s ", corpus.Name(r.IntN(1000))), 1)
		case 6:
			if word, size := utf8.DecodeRuneInString(q[at:]); size > 0 {
				q = q[:at] + string(word^1) + q[at+size:]
			}
		}
	}
	return q
}
