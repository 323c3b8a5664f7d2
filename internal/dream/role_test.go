package dream_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/store"
)

// in returns the context of the user ann of the tenant acme, with a role.
func in(ctx context.Context, role identity.Role) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: "acme", UserID: "ann", Role: role})
}

// TestReadersDoNotDream: a dream writes. What it would read is not secret.
func TestReadersDoNotDream(t *testing.T) {
	q := &line{}
	k := onSQLite(t)
	k.options.Queue = q
	k.process()
	reader := in(t.Context(), identity.RoleReader)
	if _, err := k.Enqueue(reader, dream.Request{}); !errors.Is(err, store.ErrForbidden) || len(q.orders) != 0 {
		t.Errorf("queued: %v %q", err, q.orders)
	}
	if _, err := k.Dream(reader, dream.Request{}); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("at once: %v", err)
	}
	if res := k.dreams(reader, dream.Request{DryRun: true}); res.Status != dream.StatusDryRun {
		t.Errorf("a dry run: %+v", res)
	}
}

// roles is a chat that keeps the roles of its callers, and starts nothing.
type roles struct {
	dream.Chat
	seen []identity.Role
	// tries does what an agent with tools that write would do.
	tries func(context.Context) error
	err   error
}

func (r *roles) Start(ctx context.Context, _ chat.Request) (*chat.Turn, error) {
	who, err := identity.From(ctx)
	r.seen = append(r.seen, who.Role)
	if r.tries != nil {
		r.err = r.tries(ctx)
	}
	return nil, errors.Join(err, chat.ErrBusy)
}

// TestRole: a job dreams with the rights of the user who enqueued it.
func TestRole(t *testing.T) {
	q := &line{}
	k := onSQLite(t)
	k.options.Queue = q
	k.process()
	k.live(as(t.Context(), "ann"))
	o, r := k.optionsOf(), &roles{}
	o.Chat = r
	s, err := dream.New(o)
	must(t, err)
	_, err = s.Enqueue(in(t.Context(), identity.RoleMember), dream.Request{Lookback: time.Hour})
	must(t, err)
	_ = s.Workers()[dream.Kind].Run(t.Context(), q.args[0].([]byte)) // again: the chat is busy
	if len(r.seen) != 1 || r.seen[0] != identity.RoleMember {
		t.Errorf("%q", r.seen)
	}
}

// A scheduled dream has the rights of a member: its agent writes no shared row, whatever its
// tools are.
func TestAScheduledDreamIsNoAdmin(t *testing.T) {
	q := &line{}
	k := onSQLite(t)
	now := time.Now().UTC()
	k.options = dream.Options{Queue: q, Schedule: "* * * * *", Now: func() time.Time { return now }, Lookback: 72 * time.Hour}
	k.process()
	k.live(as(t.Context(), "ann"))
	o, r := k.optionsOf(), &roles{tries: func(ctx context.Context) error {
		return k.store.PutSchema(ctx, &store.Schema{Name: "everybodys", Kind: "agent", Shared: true})
	}}
	o.Chat = r
	s, err := dream.New(o)
	must(t, err)
	must(t, s.Workers()[dream.KindSchedule].Run(t.Context(), []byte("{}")))
	now = now.Add(2 * time.Minute)
	must(t, s.Workers()[dream.KindSchedule].Run(t.Context(), []byte("{}")))
	for _, args := range q.args {
		_ = s.Workers()[dream.Kind].Run(t.Context(), args.([]byte)) // again: the chat is busy
	}
	if len(r.seen) == 0 || r.seen[0] != identity.RoleMember || !errors.Is(r.err, store.ErrForbidden) {
		t.Errorf("%q: %v", r.seen, r.err)
	}
}
