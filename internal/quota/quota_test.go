package quota_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

func TestParse(t *testing.T) {
	base := quota.Limits{Requests: 9, Runs: 8, Tokens: 7, USD: 6}
	for text, want := range map[string]string{
		"":                                      "requests=9,runs=8,tokens=7,usd=6",
		"requests=60":                           "requests=60,runs=8,tokens=7,usd=6",
		" Requests = 60 , runs=0,":              "requests=60,tokens=7,usd=6",
		"tokens=2M,usd=0.5,requests=1k,runs=1":  "requests=1000,runs=1,tokens=2000000,usd=0.5",
		"tokens=1.5M":                           "requests=9,runs=8,tokens=1500000,usd=6",
		"tokens=0,usd=0,requests=0,runs=0":      "none",
		"tokens=1.5":                            "not a limit",
		"tokens=-1":                             "not a limit",
		"tokens=1e3":                            "not a limit",
		"tokens=NaN":                            "not a limit",
		"usd=inf":                               "not a limit",
		"tokens":                                "not a limit",
		"60":                                    "not a limit",
		"minutes=60":                            "no limit",
		"tokens=1,tokens=2":                     "twice",
		"tokens=99999999999999999999999999999M": "not a limit",
		"requests=60;runs=4":                    "not a limit",
	} {
		l, err := quota.Parse(text, base)
		got := l.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// clock stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// counting counts the calls of a store.
type counting struct {
	quota.Store
	mu                    sync.Mutex
	reads, writes, looked int
}

func (c *counting) Any(ctx context.Context) (bool, error) {
	c.add(&c.looked)
	return c.Store.Any(ctx)
}

func (c *counting) Standing(ctx context.Context) ([]store.QuotaStanding, error) {
	c.add(&c.reads)
	return c.Store.Standing(ctx)
}

func (c *counting) Count(ctx context.Context, minute, tenant, user, key int64) ([]store.QuotaStanding, error) {
	c.add(&c.writes)
	return c.Store.Count(ctx, minute, tenant, user, key)
}

func (c *counting) add(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

type world struct {
	*clock
	store *store.Store
	calls *counting
}

func newWorld(t *testing.T) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p8.db")
	database.Copy(t, file)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: file, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	// The store has a clock of its own.
	return &world{&clock{at: time.Now().Truncate(24 * time.Hour).Add(12 * time.Hour)}, s, &counting{Store: quota.Over(s)}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) keeper(user, tenant string) *quota.Keeper {
	o := quota.Options{Store: w.calls, Now: w.now, Logger: slog.New(slog.DiscardHandler)}
	o.User, _ = quota.Parse(user, quota.Limits{})
	o.Tenant, _ = quota.Parse(tenant, quota.Limits{})
	return quota.New(o)
}

func as(user string) context.Context {
	return identity.With(context.Background(), identity.Identity{TenantID: "acme", UserID: user})
}

// what returns the limit that an error names, as "user requests".
func what(err error) string {
	var e *quota.Error
	if errors.As(err, &e) {
		return e.Kind + " " + e.What
	}
	return fmt.Sprint(err)
}

// Without any quota nothing is counted, and the store is asked every ten seconds.
func TestNothingConfigured(t *testing.T) {
	w := newWorld(t)
	k := w.keeper("", "")
	for range 100 {
		standing, err := k.Admit(as("rita"))
		must(t, err)
		if standing != nil {
			t.Fatal("a standing without a quota")
		}
		lease, err := k.Begin(as("rita"), false)
		must(t, err)
		if lease != nil {
			t.Fatal("a lease without a quota")
		}
	}
	if w.calls.reads+w.calls.writes > 0 || w.calls.looked != 1 {
		t.Errorf("%d reads, %d writes, %d looks", w.calls.reads, w.calls.writes, w.calls.looked)
	}
	must(t, w.store.Quotas().Set(as(""), store.Quota{Kind: "user", ID: "rita", Limits: "requests=1"}))
	w.move(11 * time.Second)
	if _, err := k.Admit(as("rita")); err != nil {
		t.Error(err)
	}
	if _, err := k.Admit(as("rita")); what(err) != "user requests" {
		t.Error(err)
	}
	if _, err := k.Admit(as("otto")); err != nil {
		t.Error(err)
	}
}

// One process is exact, and writes a tenth of the requests.
func TestRequests(t *testing.T) {
	w := newWorld(t)
	k := w.keeper("requests=60", "requests=100")
	admitted := func(user string, n int) (ok int, last error) {
		for range n {
			if _, err := k.Admit(as(user)); err == nil {
				ok++
			} else {
				last = err
			}
		}
		return ok, last
	}
	if n, err := admitted("rita", 100); n != 60 || what(err) != "user requests" {
		t.Errorf("%d of rita, %v", n, err)
	}
	if w.calls.writes > 11 {
		t.Errorf("%d writes", w.calls.writes)
	}
	if n, err := admitted("otto", 100); n != 40 || what(err) != "tenant requests" {
		t.Errorf("%d of otto, %v", n, err)
	}
	w.move(20 * time.Second)
	standing, err := k.Admit(as("rita"))
	var refused *quota.Error
	if !errors.As(err, &refused) || refused.RetryAfter != 40*time.Second {
		t.Errorf("%v", err)
	}
	h := http.Header{}
	standing.Set(h)
	if h.Get("RateLimit-Policy") != `"tenant-requests";q=100;w=60, "user-requests";q=60;w=60` || h.Get("RateLimit") != `"tenant-requests";r=0;t=40, "user-requests";r=0;t=40` {
		t.Error(h)
	}
	w.move(40 * time.Second)
	if n, _ := admitted("rita", 10); n != 10 {
		t.Errorf("%d in the next minute", n)
	}
}

// Three replicas let through a tenth more each, at most, however their requests are mixed.
func TestReplicas(t *testing.T) {
	w := newWorld(t)
	replicas := []*quota.Keeper{w.keeper("requests=100", ""), w.keeper("requests=100", ""), w.keeper("requests=100", "")}
	var mu sync.Mutex
	admitted := 0
	var wait sync.WaitGroup
	for _, k := range replicas {
		for range 4 {
			wait.Go(func() {
				for range 50 {
					if _, err := k.Admit(as("rita")); err == nil {
						mu.Lock()
						admitted++
						mu.Unlock()
					}
				}
			})
		}
	}
	wait.Wait()
	if admitted < 100 || admitted > 130 {
		t.Errorf("%d requests of 100", admitted)
	}
}

// What runs consume counts while they are under way, in the store when they are over, and for
// the other replicas two seconds later.
func TestSpending(t *testing.T) {
	w := newWorld(t)
	here, there := w.keeper("tokens=1000,usd=2", ""), w.keeper("tokens=1000,usd=2", "")
	spend := func(tokens int, usd float64) {
		text := "x"
		m := &store.Message{Type: store.MessageUser, Content: &text, InputTokens: tokens, CostUSD: usd}
		must(t, w.store.BeginTurn(as("rita"), store.Session{ID: "s"}, m))
	}
	w.clock.at = time.Now() // the store counts by its own clock
	one, err := here.Begin(as("rita"), false)
	must(t, err)
	two, err := here.Begin(as("rita"), false)
	must(t, err)
	first, second := one.Meter(), two.Meter()
	for _, c := range []struct {
		meter  func(event.UsageData) string
		tokens int
		want   string
	}{{first, 0, ""}, {second, 0, ""}, {first, 500, ""}, {second, 499, ""}, {second, 500, "tokens_quota"}, {first, 500, "tokens_quota"}} {
		if got := c.meter(event.UsageData{InputTokens: c.tokens}); got != c.want {
			t.Errorf("after %d: %q, want %q", c.tokens, got, c.want)
		}
	}
	if _, err := here.Begin(as("rita"), false); what(err) != "user tokens" {
		t.Error(err)
	}
	if _, err := here.Begin(as("rita"), true); err != nil {
		t.Errorf("a run that goes on: %v", err)
	}
	if err := there.May(as("rita")); err != nil {
		t.Errorf("another replica knows what is not stored: %v", err)
	}
	spend(500, 0)
	one.End(500, 0)
	if err := here.May(as("rita")); what(err) != "user tokens" {
		t.Errorf("between the runs: %v", err)
	}
	spend(500, 0)
	two.End(500, 0)
	w.move(3 * time.Second)
	if err := there.May(as("rita")); what(err) != "user tokens" {
		t.Errorf("another replica: %v", err)
	}
	if err := there.May(as("otto")); err != nil {
		t.Error(err)
	}
	must(t, w.store.Quotas().Set(as(""), store.Quota{Kind: "user", ID: "rita", Limits: "tokens=0"}))
	spend(0, 2)
	w.move(3 * time.Second)
	err = there.May(as("rita"))
	var refused *quota.Error
	if !errors.As(err, &refused) || refused.What != "usd" || refused.ErrorData().Code != "insufficient_quota" || refused.ErrorData().HTTPStatus != 429 {
		t.Error(err)
	}
}

// A run that goes on, and one that is handed over, count what they consume once.
func TestMeterGoesOn(t *testing.T) {
	k := quota.New(quota.Options{User: quota.Limits{Tokens: 1000}})
	l, err := k.Begin(as("rita"), true)
	must(t, err)
	meter := l.Meter()
	for _, tokens := range []int{5000, 5600, 5999} { // 5000 are of before
		if got := meter(event.UsageData{OutputTokens: tokens}); got != "" {
			t.Errorf("%d: %s", tokens, got)
		}
	}
	handed := l.Meter()
	if got := handed(event.UsageData{}); got != "" {
		t.Error(got)
	}
	if got := handed(event.UsageData{OutputTokens: 1}); got != "tokens_quota" {
		t.Errorf("after the hand-over: %q", got)
	}
	l.End(1000, 0)
	if err := k.May(as("rita")); what(err) != "user tokens" {
		t.Error(err)
	}
}

func TestRuns(t *testing.T) {
	k := quota.New(quota.Options{User: quota.Limits{Runs: 2}, Tenant: quota.Limits{Runs: 3}})
	one, err := k.Begin(as("rita"), false)
	must(t, err)
	_, err = k.Begin(as("rita"), false)
	must(t, err)
	if _, err := k.Begin(as("rita"), false); what(err) != "user runs" {
		t.Error(err)
	}
	_, err = k.Begin(as("otto"), false)
	must(t, err)
	if _, err := k.Begin(as("otto"), false); what(err) != "tenant runs" {
		t.Error(err)
	}
	one.End(0, 0)
	last, err := k.Begin(as("rita"), false)
	must(t, err)
	if last.Allowed() != (store.RunsAllowed{Tenant: 3, User: 2}) || what(last.Refused(&store.TooManyRunsError{Kind: "user"})) != "user runs" {
		t.Errorf("%+v", last.Allowed())
	}
}

func TestUse(t *testing.T) {
	w := newWorld(t)
	k := w.keeper("requests=4,tokens=100,usd=2", "runs=2")
	for range 5 {
		_, _ = k.Admit(as("rita"))
	}
	_, err := k.Admit(as("otto"))
	must(t, err)
	k.Spend(as("otto"), 50, 0.5)
	lease, err := k.Begin(as("otto"), false)
	must(t, err)
	want := quota.Use{
		Highest: map[quota.Refusal]float64{
			{Kind: "user", What: "requests"}: 1, {Kind: "user", What: "tokens"}: 0.5, {Kind: "user", What: "usd"}: 0.25, {Kind: "tenant", What: "runs"}: 0.5,
		},
		Refusals: map[quota.Refusal]uint64{{Kind: "user", What: "requests"}: 1},
	}
	if d := cmp.Diff(want, k.Use()); d != "" {
		t.Error(d)
	}
	lease.End(0, 0)
	w.move(24 * time.Hour)
	for by, part := range k.Use().Highest {
		if part != 0 {
			t.Errorf("%v: %v is used the next day", by, part)
		}
	}
}

// A server whose clock is behind counts into the windows that the others have begun.
func TestLateClock(t *testing.T) {
	w := newWorld(t)
	right, late := w.keeper("requests=10,tokens=100", ""), w.keeper("requests=10,tokens=100", "")
	admitted := func(k *quota.Keeper) (n int) {
		for range 20 {
			if _, err := k.Admit(as("rita")); err == nil {
				n++
			}
		}
		return n
	}
	w.clock.at = time.Now() // the store counts by its own clock
	if n := admitted(right); n != 10 {
		t.Fatalf("%d requests", n)
	}
	right.Spend(as("rita"), 100, 0)
	w.move(time.Minute)
	if n := admitted(right); n != 10 {
		t.Fatalf("%d requests in the next window", n)
	}
	w.move(-time.Minute)
	if n := admitted(right); n > 0 {
		t.Errorf("%d requests after the clock went back", n)
	}
	if n := admitted(late); n > 0 {
		t.Errorf("%d requests of another server that is late", n)
	}
	w.move(-24 * time.Hour)
	for name, k := range map[string]*quota.Keeper{"one": right, "another": late} {
		if err := k.May(as("rita")); what(err) != "user tokens" {
			t.Errorf("%s on the day before: %v", name, err)
		}
	}
}

// slow answers when it is let go.
type slow struct {
	quota.Store
	asked chan struct{}
	let   chan struct{}
}

func (s *slow) Standing(ctx context.Context) ([]store.QuotaStanding, error) {
	s.asked <- struct{}{}
	<-s.let
	return s.Store.Standing(ctx)
}

// Nobody passes before the quotas of a caller were read for the first time.
func TestFirstRead(t *testing.T) {
	w := newWorld(t)
	must(t, w.store.Quotas().Set(as(""), store.Quota{Kind: "user", ID: "rita", Limits: "runs=1"}))
	s := &slow{w.calls, make(chan struct{}, 20), make(chan struct{})}
	k := quota.New(quota.Options{Store: s, Now: w.now, Logger: slog.New(slog.DiscardHandler)})
	ended := make(chan error, 10)
	for range cap(ended) {
		go func() {
			_, err := k.Begin(as("rita"), false)
			ended <- err
		}()
	}
	<-s.asked
	ctx, cancel := context.WithCancel(as("rita"))
	cancel()
	if _, err := k.Begin(ctx, false); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left: %v", err)
	}
	close(s.let)
	begun := 0
	for range cap(ended) {
		if err := <-ended; err == nil {
			begun++
		} else if what(err) != "user runs" {
			t.Error(err)
		}
	}
	if begun != 1 || w.calls.reads != 1 {
		t.Errorf("%d runs began, after %d reads", begun, w.calls.reads)
	}
}
