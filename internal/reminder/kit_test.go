package reminder

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that the test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = t
}

// world is a deployment: a store, a queue, a webhook and a clock.
type world struct {
	t     *testing.T
	store *store.Store
	queue *fakeQueue
	clock *clock
	hook  *hook
	log   *strings.Builder
	// broken, unless nil, is called before and after every use of the store, the queue and
	// the webhook, and may fail it.
	broken func(op string) error
	*Service
}

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC) // a Monday

func newWorld(t *testing.T) *world {
	t.Helper()
	return anotherWorld(t, database.Open(t))
}

// anotherWorld is another deployment on a store, for other users.
func anotherWorld(t *testing.T, s *store.Store) *world {
	t.Helper()
	c := &clock{t: start}
	w := &world{t: t, store: s, queue: &fakeQueue{clock: c}, clock: c, log: new(strings.Builder)}
	w.hook = newHook(t)
	w.restart()
	return w
}

// restart starts a new process on the same store and queue.
func (w *world) restart() {
	w.t.Helper()
	s, err := New(Options{
		Store: w.store, Queue: brokenQueue{w}, WebhookURL: w.hook.server.URL, WebhookSecret: "whsec_c2VjcmV0",
		HTTPClient: &http.Client{Transport: brokenTransport{w}}, Now: w.clock.now,
		Logger: slog.New(slog.NewTextHandler(&locked{w: w.log}, nil)),
	})
	must(w.t, err)
	s.moments = brokenMoments{s.moments, w}
	w.Service = s
}

// goTo moves the clock and runs the jobs that come due on the way.
func (w *world) goTo(at time.Time) {
	w.t.Helper()
	for n := 0; ; n++ {
		j := w.queue.due(at)
		if j == nil {
			break
		}
		if n > 2000 {
			w.t.Fatal("the queue never rests")
		}
		if j.runAt.After(w.clock.now()) {
			w.clock.set(j.runAt)
		}
		w.queue.run(w.t.Context(), j, w.Worker())
	}
	w.clock.set(at)
}

func (w *world) use(op string, do func() error) error {
	broken := w.broken
	if broken == nil {
		return do()
	}
	if err := broken("before " + op); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return broken("after " + op)
}

type brokenMoments struct {
	moments
	w *world
}

func (b brokenMoments) Get(ctx context.Context, id string) (m store.Moment, err error) {
	err = b.w.use("get", func() error { m, err = b.moments.Get(ctx, id); return err })
	return m, err
}

func (b brokenMoments) ByName(ctx context.Context, name string) (m store.Moment, err error) {
	err = b.w.use("by name", func() error { m, err = b.moments.ByName(ctx, name); return err })
	return m, err
}

func (b brokenMoments) PutWith(ctx context.Context, o store.PutOptions, rows ...*store.Moment) error {
	return b.w.use("put", func() error { return b.moments.PutWith(ctx, o, rows...) })
}

type brokenQueue struct{ w *world }

func (b brokenQueue) Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (r jobs.Receipt, err error) {
	err = b.w.use("enqueue", func() error { r, err = b.w.queue.Enqueue(ctx, kind, args, o); return err })
	return r, err
}

type brokenTransport struct{ w *world }

func (b brokenTransport) RoundTrip(req *http.Request) (res *http.Response, err error) {
	err = b.w.use("tell", func() error { res, err = b.w.hook.server.Client().Transport.RoundTrip(req); return err })
	if err != nil && res != nil {
		res.Body.Close()
		res = nil
	}
	return res, err
}

// delivery is a post to the webhook.
type delivery struct {
	header http.Header
	body   []byte
}

// hook is a webhook.
type hook struct {
	server *httptest.Server
	mu     sync.Mutex
	got    []delivery
	status int
}

func newHook(t *testing.T) *hook {
	h := &hook{status: http.StatusOK}
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, delivery{r.Header.Clone(), body})
		w.WriteHeader(h.status)
	}))
	t.Cleanup(h.server.Close)
	return h
}

func (h *hook) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

func (h *hook) deliveries() []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]delivery(nil), h.got...)
}

// locked is a log that goroutines share.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// as returns the context of a user, "" for an anonymous caller.
func as(t *testing.T, user string) context.Context {
	return identity.With(t.Context(), identity.Identity{UserID: user, TenantID: "acme", SessionID: "s-1"})
}

// notes returns a caller's notifications, the oldest first.
func (w *world) notes(ctx context.Context) []Notification {
	w.t.Helper()
	r := reader{moments: w.store.Moments()}
	rows, err := r.unseen(ctx)
	must(w.t, err)
	var all []Notification
	for _, m := range rows {
		n, err := notificationOf(m)
		must(w.t, err)
		all = append(all, n)
	}
	return all
}

func (w *world) remind(ctx context.Context, req Request) Reminder {
	w.t.Helper()
	if req.Name == "" {
		req.Name = "water"
	}
	if req.Description == "" {
		req.Description = "The roses are thirsty."
	}
	r, err := w.Remind(ctx, req)
	must(w.t, err)
	return r
}

// zoneProfile gives a user a time zone.
func (w *world) zoneProfile(ctx context.Context, zone string) {
	w.t.Helper()
	must(w.t, w.store.Users().Put(ctx, &store.User{Name: "somebody", Metadata: json.RawMessage(`{"timezone":"` + zone + `"}`)}))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func instantOf(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	must(t, err)
	return at
}
