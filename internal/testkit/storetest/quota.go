package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// quotas: admins manage the quotas of their tenant, and only the deployment the tenant's own.
func quotas(t *testing.T, open Open) {
	s := open(t)
	with := func(tenant, user string, r identity.Role) context.Context {
		return identity.With(context.Background(), identity.Identity{TenantID: tenant, UserID: user, Role: r})
	}
	admin, other := with("one", "ada", identity.RoleAdmin), with("two", "ada", identity.RoleAdmin)
	deployment := identity.With(context.Background(), identity.Identity{TenantID: "one", Role: identity.RoleAdmin, KeyID: identity.DeploymentKey})
	gateway := identity.With(context.Background(), identity.Identity{TenantID: "one", UserID: "rita", KeyID: identity.DeploymentKey})
	of := func(kind, id, limits string) store.Quota { return store.Quota{Kind: kind, ID: id, Limits: limits} }
	for _, c := range []struct {
		what string
		ctx  context.Context
		q    store.Quota
		want error
	}{
		{"an admin for a user", admin, of("user", "rita", "tokens=5"), nil},
		{"again", admin, of("user", "rita", "tokens=7"), nil},
		{"an admin for a key", admin, of("key", "k1", "requests=5"), nil},
		{"an admin for the tenant", admin, of("tenant", "", "tokens=0"), store.ErrForbidden},
		{"the deployment for the tenant", deployment, of("tenant", "", "tokens=9"), nil},
		{"the anonymous callers", admin, of("user", "", "requests=1"), nil},
		{"a member", with("one", "rita", identity.RoleMember), of("user", "rita", "tokens=0"), store.ErrForbidden},
		{"a user whom the gateway names", gateway, of("user", "rita", "tokens=0"), store.ErrForbidden},
		{"a reader", with("one", "rita", identity.RoleReader), of("user", "rita", "tokens=0"), store.ErrForbidden},
		{"another kind", admin, of("session", "x", "tokens=0"), store.ErrInvalid},
		{"a tenant by name", deployment, of("tenant", "two", "tokens=0"), store.ErrInvalid},
		{"no key", admin, of("key", "", "tokens=0"), store.ErrInvalid},
		{"no limits", admin, of("user", "rita", ""), store.ErrInvalid},
		{"another tenant's", other, of("user", "rita", "tokens=1"), nil},
	} {
		wantErr(t, c.what, s.Quotas().Set(c.ctx, c.q), c.want)
	}
	list, err := s.Quotas().List(admin)
	must(t, err)
	wantEqual(t, "the list", each(list, func(q store.Quota) string { return q.Kind + " " + q.ID + ": " + q.Limits }),
		[]string{"key k1: requests=5", "tenant : tokens=9", "user : requests=1", "user rita: tokens=7"})
	_, err = s.Quotas().List(with("one", "rita", identity.RoleMember))
	wantErr(t, "a member lists", err, store.ErrForbidden)
	wantErr(t, "another tenant's", s.Quotas().Remove(other, "key", "k1"), store.ErrNotFound)
	wantErr(t, "an admin removes the tenant's", s.Quotas().Remove(admin, "tenant", ""), store.ErrForbidden)
	must(t, s.Quotas().Remove(admin, "key", "k1"))
	found, err := s.Maintenance().AnyQuota(context.Background())
	must(t, err)
	wantEqual(t, "any quota", found, true)
}

// quotaUsage: what is stored is counted in the same transaction, for each subject by its window.
func quotaUsage(t *testing.T, open Open) {
	s := open(t)
	found, err := s.Maintenance().AnyQuota(context.Background())
	must(t, err)
	wantEqual(t, "any quota", found, false)
	alice := identity.With(context.Background(), identity.Identity{TenantID: "one", UserID: "alice", KeyID: "k1"})
	standing := func(ctx context.Context, kind string) store.QuotaStanding {
		t.Helper()
		list, err := s.Quotas().Standing(ctx)
		must(t, err)
		for _, x := range list {
			if x.Kind == kind {
				return x
			}
		}
		return store.QuotaStanding{}
	}
	spend := func(ctx context.Context, tokens int, usd float64) {
		t.Helper()
		m := userMessage("x")
		m.InputTokens, m.OutputTokens, m.CostUSD = tokens, tokens, usd
		must(t, s.BeginTurn(ctx, store.Session{ID: "s"}, m))
	}
	spend(alice, 100, 1)
	wantEqual(t, "before anybody counts", standing(alice, "user"), store.QuotaStanding{})
	s.Meter()
	spend(alice, 100, 0.25)
	spend(alice, 10, 0.25)
	spend(as("one", "bob"), 1, 0.5)
	spend(as("one", ""), 2, 0)
	spend(as("two", "alice"), 1000, 1)
	must(t, s.Quotas().Spend(alice, 5, 0.5))
	day := store.QuotaDay(time.Now())
	wantEqual(t, "the user", standing(alice, "user"), store.QuotaStanding{Kind: "user", ID: "alice", Day: day, Tokens: 225, CostUSD: 1})
	wantEqual(t, "the key", standing(alice, "key"), store.QuotaStanding{Kind: "key", ID: "k1", Day: day, Tokens: 225, CostUSD: 1})
	wantEqual(t, "the tenant", standing(alice, "tenant"), store.QuotaStanding{Kind: "tenant", Day: day, Tokens: 231, CostUSD: 1.5})
	wantEqual(t, "anonymous callers", standing(as("one", ""), "user"), store.QuotaStanding{Kind: "user", Day: day, Tokens: 4})
	must(t, s.DeleteSession(alice, "s"))
	wantEqual(t, "after the session is gone", standing(alice, "user").Tokens, int64(225))

	list, err := s.Quotas().Count(alice, 7, 3, 2, 1)
	must(t, err)
	wantEqual(t, "subjects", len(list), 3)
	_, err = s.Quotas().Count(alice, 7, 1, 1, 0)
	must(t, err)
	_, err = s.Quotas().Count(alice, 6, 50, 50, 50) // a server that is late
	must(t, err)
	wantEqual(t, "the tenant's minute", standing(alice, "tenant").Requests, int64(54))
	wantEqual(t, "the user's minute", standing(alice, "user").Requests, int64(53))
	wantEqual(t, "the minute stays", standing(alice, "user").Minute, int64(7))
	_, err = s.Quotas().Count(alice, 1000, 1, 1, 1) // a server whose clock is wrong
	must(t, err)
	_, err = s.Quotas().Count(alice, 7, 2, 2, 2)
	must(t, err)
	wantEqual(t, "after a wrong clock", standing(alice, "user").Requests, int64(2))
	_, err = s.Quotas().Count(alice, 8, 1, 1, 1)
	must(t, err)
	wantEqual(t, "the next minute", standing(alice, "user").Requests, int64(1))
	wantEqual(t, "the tokens stay", standing(alice, "user").Tokens, int64(225))
	reader := identity.With(context.Background(), identity.Identity{TenantID: "one", UserID: "ron", Role: identity.RoleReader})
	_, err = s.Quotas().Count(reader, 8, 1, 1, 0)
	must(t, err)
	must(t, s.Quotas().Set(as("one", ""), store.Quota{Kind: "user", ID: "alice", Limits: "tokens=1"}))
	wantEqual(t, "the limits", standing(alice, "user").Limits, "tokens=1")
	must(t, s.Quotas().Set(as("one", ""), store.Quota{Kind: "user", ID: "new", Limits: "tokens=2"}))
	wantEqual(t, "limits without usage", standing(as("one", "new"), "user"), store.QuotaStanding{Kind: "user", ID: "new", Limits: "tokens=2"})
}

// quotaRuns: however many begin at once, no more runs are under way than are allowed.
func quotaRuns(t *testing.T, open Open) {
	s := open(t)
	begin := func(user string, allowed store.RunsAllowed) (string, error) {
		id := newID()
		return id, s.BeginRun(as("one", user), store.RunStart{
			Run: store.Run{ID: id, Process: "p"}, Session: store.Session{ID: id}, Messages: []*store.Message{userMessage("x")}, Allowed: allowed,
		})
	}
	var wait sync.WaitGroup
	begun := make(chan string, 12)
	for range 12 {
		wait.Go(func() {
			id, err := begin("alice", store.RunsAllowed{User: 3})
			var many *store.TooManyRunsError
			switch {
			case err == nil:
				begun <- id
			case !errors.As(err, &many) || many.Kind != store.QuotaUser:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	wantEqual(t, "runs of the user", len(begun), 3)
	_, err := begin("bob", store.RunsAllowed{User: 3, Tenant: 4})
	must(t, err)
	_, err = begin("bob", store.RunsAllowed{User: 3, Tenant: 4})
	var many *store.TooManyRunsError
	if !errors.As(err, &many) || many.Kind != store.QuotaTenant {
		t.Errorf("one more of the tenant: %v", err)
	}
	write(t, s, as("one", "alice"), store.RunWrite{RunID: <-begun, Process: "p", Status: store.RunCompleted})
	_, err = begin("bob", store.RunsAllowed{User: 3, Tenant: 4})
	must(t, err)
	_, err = begin("", store.RunsAllowed{User: 1})
	must(t, err)
}

// quotaClaims: a run that waited takes a place when it goes on. One that finds none waits on.
func quotaClaims(t *testing.T, open Open) {
	s := open(t)
	ctx, one := as("one", "alice"), store.RunsAllowed{User: 1}
	var waiting []string
	for _, id := range []string{"a", "b", "c"} {
		run := start(t, s, ctx, id, userMessage("x"))
		write(t, s, ctx, store.RunWrite{RunID: run, Process: "p", Status: store.RunWaiting})
		waiting = append(waiting, run)
	}
	var wait sync.WaitGroup
	claimed := make(chan string, len(waiting))
	for _, run := range waiting {
		wait.Go(func() {
			_, err := s.ClaimRun(ctx, run, "p", one)
			var many *store.TooManyRunsError
			switch {
			case err == nil:
				claimed <- run
			case !errors.As(err, &many) || many.Kind != store.QuotaUser:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	wantEqual(t, "claimed", len(claimed), 1)
	first := <-claimed
	for _, run := range waiting {
		want := map[bool]string{true: store.RunRunning, false: store.RunWaiting}[run == first]
		wantEqual(t, "status", get[store.Run](t)(s.Run(ctx, run)).Status, want)
	}
	_, err := s.ClaimRun(as("one", "bob"), first, "p", one)
	wantErr(t, "another user", err, store.ErrNotFound)
	write(t, s, ctx, store.RunWrite{RunID: first, Process: "p", Status: store.RunCompleted})
	for _, run := range waiting {
		if run != first {
			get[store.Run](t)(s.ClaimRun(ctx, run, "p", one))
			break
		}
	}
}

// quotaGuests: a guest pays in the session of another user, and all visitors and guests of
// links are one user.
func quotaGuests(t *testing.T, open Open) {
	s := open(t)
	s.Meter()
	ann, bob, one := as("one", "ann"), as("one", "bob"), store.RunsAllowed{User: 1}
	begin := func(ctx context.Context, session string) error {
		m := userMessage("x")
		m.InputTokens = 10
		return s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: session}, Messages: []*store.Message{m}, Allowed: one})
	}
	refused := func(what string, err error) {
		t.Helper()
		if many := (*store.TooManyRunsError)(nil); !errors.As(err, &many) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, s.BeginTurn(ann, store.Session{ID: "s"}, userMessage("x")))
	must(t, s.BeginTurn(bob, store.Session{ID: "mine"}, userMessage("x"))) // shares are for users whom the store knows
	x := store.Share{SessionID: "s", UserID: "bob", Role: store.ShareWrite}
	must(t, s.PutShare(ann, &x))
	guest, _, err := s.OpenShare(bob, x.ID)
	must(t, err)
	inShare := identity.With(context.Background(), guest)
	must(t, begin(inShare, "s"))
	refused("the guest again", begin(inShare, "s"))
	refused("the guest at home", begin(bob, "b"))
	must(t, begin(ann, "s"))
	refused("the owner again", begin(ann, "s"))

	visitor := func(n string) context.Context { return as("one", identity.VisitorPrefix+n) }
	must(t, begin(visitor("1"), "v"))
	refused("another visitor", begin(visitor("2"), "v"))
	refused("nobody", begin(as("one", ""), "v"))
	_, err = s.Quotas().Count(visitor("3"), 7, 1, 1, 0)
	must(t, err)
	for who, want := range map[string]context.Context{"": visitor("4"), "bob": inShare, "ann": ann} {
		for _, x := range get[[]store.QuotaStanding](t)(s.Quotas().Standing(want)) {
			if x.Kind == store.QuotaUser {
				wantEqual(t, "tokens of "+who, x.ID+" "+fmt.Sprint(x.Tokens), who+" 10")
			}
		}
	}
	link := store.Share{SessionID: "s", Link: true}
	must(t, s.PutShare(ann, &link))
	nobody, _, err := s.Maintenance().OpenLink(context.Background(), link.Secret)
	must(t, err)
	list := get[[]store.QuotaStanding](t)(s.Quotas().Count(identity.With(context.Background(), nobody), 7, 1, 1, 0))
	for _, x := range list {
		if x.Kind == store.QuotaUser {
			wantEqual(t, "requests of all visitors", x, store.QuotaStanding{Kind: store.QuotaUser, Minute: 7, Requests: 2, Day: x.Day, Tokens: 10})
		}
	}

	// What is of the past goes, what is of today stays.
	gone := get[int64](t)(s.Maintenance().PruneQuotaUsage(context.Background(), time.Now()))
	wantEqual(t, "pruned today", gone, int64(0))
	gone = get[int64](t)(s.Maintenance().PruneQuotaUsage(context.Background(), time.Now().Add(48*time.Hour)))
	wantEqual(t, "pruned later", gone, int64(4)) // the tenant, ann, bob and the visitors
}
