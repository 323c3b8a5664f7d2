package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// addAccount adds a local user, whose password has a hash.
func addAccount(t *testing.T, s *store.Store, ctx context.Context, email string, role identity.Role, hash string) store.Account {
	t.Helper()
	a := store.Account{UserID: identity.UserID(email), Email: email, Role: role}
	must(t, s.Accounts().Add(ctx, &a, hash))
	return a
}

func accounts(t *testing.T, open Open) {
	s := open(t)
	all := s.Accounts()
	admin, member, elsewhere := by("one", "ann", identity.RoleAdmin, ""), by("one", "mia", identity.RoleMember, ""), by("two", "", "", "")
	mia := addAccount(t, s, admin, "mia@example.com", identity.RoleMember, "h1")
	rolf := addAccount(t, s, admin, "rölf@example.com", identity.RoleReader, "h2")
	twin := addAccount(t, s, elsewhere, "mia@example.com", identity.RoleAdmin, "h3")
	again := mia
	wantErr(t, "added twice", all.Add(admin, &again, "h"), store.ErrConflict)
	again.Role = "root"
	wantErr(t, "another role", all.Add(admin, &again, "h"), store.ErrInvalid)
	again.Role, again.UserID = identity.RoleReader, "mia"
	wantErr(t, "no id", all.Add(admin, &again, "h"), store.ErrInvalid)
	wantErr(t, "by a member", all.Add(member, &mia, "h"), store.ErrForbidden)
	wantErr(t, "removed by a member", all.Remove(member, mia.UserID), store.ErrForbidden)
	_, _, err := all.List(member, 0, "")
	wantErr(t, "listed by a member", err, store.ErrForbidden)
	first, next, err := all.List(admin, 1, "")
	must(t, err)
	rest, end, err := all.List(admin, 1, next)
	must(t, err)
	wantEqual(t, "listed", append(first, rest...), []store.Account{mia, rolf})
	wantEqual(t, "the end", end, "")

	account := func(tenant, user string) string {
		t.Helper()
		x, hash, found, err := s.Access().Account(t.Context(), tenant, user)
		must(t, err)
		if found != (hash != "") {
			t.Errorf("%s/%s: %v %q", tenant, user, found, hash)
		}
		return x.TenantID + " " + hash
	}
	wantEqual(t, "of a tenant", account("one", mia.UserID), "one h1")
	wantEqual(t, "of the other", account("two", mia.UserID), "two h3")
	wantEqual(t, "of the oldest", account("", mia.UserID), "one h1")
	wantEqual(t, "of the only tenant", account("", rolf.UserID), "one h2")
	wantEqual(t, "of no tenant", account("three", mia.UserID), " ")
	wantEqual(t, "nobody", account("", "a\x00b"), " ")

	must(t, all.SetPassword(admin, mia.UserID, "h4"))
	must(t, all.SetPassword(by("one", rolf.UserID, identity.RoleReader, ""), rolf.UserID, "h5"))
	wantEqual(t, "the new password", account("one", mia.UserID), "one h4")
	wantEqual(t, "one's own", account("", rolf.UserID), "one h5")
	wantErr(t, "another's", all.SetPassword(by("one", rolf.UserID, identity.RoleMember, ""), mia.UserID, "h"), store.ErrForbidden)
	wantErr(t, "another tenant's", all.SetPassword(elsewhere, rolf.UserID, "h"), store.ErrNotFound)
	wantErr(t, "another tenant's user", all.Remove(elsewhere, rolf.UserID), store.ErrNotFound)

	// With the user, the keys go.
	k := keyed("ci", mia.UserID, identity.RoleMember, 1)
	must(t, s.APIKeys().Create(admin, k))
	kept := keyed("ci", mia.UserID, identity.RoleMember, 2)
	must(t, s.APIKeys().Create(elsewhere, kept))
	service, others := keyed("service", "", identity.RoleMember, 3), keyed("ci", "eve", identity.RoleReader, 4)
	for _, k := range []*store.APIKey{service, others} { // what the user made goes, too
		must(t, s.APIKeys().Create(by("one", mia.UserID, identity.RoleAdmin, ""), k))
	}
	must(t, all.Remove(admin, mia.UserID))
	wantErr(t, "removed twice", all.Remove(admin, mia.UserID), store.ErrNotFound)
	wantEqual(t, "the other tenant's is the only one", account("", mia.UserID), "two h3")
	for hash, want := range map[string]bool{k.Hash: true, kept.Hash: false, service.Hash: true, others.Hash: true} {
		x, _, err := s.Access().Key(t.Context(), hash)
		must(t, err)
		wantEqual(t, "revoked", !x.RevokedAt.IsZero(), want)
	}
	wantEqual(t, "the twin stays", twin.TenantID, "two")
}

func limits(account, address string) []store.LoginLimit {
	return []store.LoginLimit{
		{Subject: account, Free: 3, First: 10 * time.Minute, Most: time.Hour, Decay: time.Hour, Clears: true},
		{Subject: address, Free: 100, First: time.Second, Most: time.Minute, Decay: time.Hour},
	}
}

func logins(t *testing.T, open Open) {
	s := open(t)
	a := s.Access()
	ctx := t.Context()
	admin := by("one", "ann", identity.RoleAdmin, "")
	mia := addAccount(t, s, admin, "mia@example.com", identity.RoleMember, "h1")
	try := func() time.Duration {
		t.Helper()
		return get[time.Duration](t)(a.TryLogin(ctx, limits("mia", "here")...))
	}
	login := func(n int) *store.APIKey {
		t.Helper()
		k := keyed("login", "", "", n)
		k.Role, k.ExpiresAt = identity.RoleMember, time.Now().Add(time.Hour)
		must(t, a.LoggedIn(ctx, mia, "h1", k, limits("mia", "here")...))
		return k
	}
	for range 3 {
		wantEqual(t, "a free try", try(), time.Duration(0))
	}
	first := login(1)
	for range 4 { // a success forgets the failures
		wantEqual(t, "a try", try(), time.Duration(0))
	}
	if wait := try(); wait <= 0 || wait > 10*time.Minute {
		t.Errorf("after four failures the pause is %s", wait)
	}
	if wait := get[time.Duration](t)(a.TryLogin(ctx, limits("mia", "elsewhere")...)); wait <= 0 {
		t.Error("another address has no pause")
	}
	must(t, a.Forgive(ctx, limits("mia", "here")...))
	wantEqual(t, "a try after a right password", try(), time.Duration(0))
	wantEqual(t, "another account", get[time.Duration](t)(a.TryLogin(ctx, limits("rolf", "here")...)), time.Duration(0))

	wantErr(t, "the password has changed since", a.LoggedIn(ctx, mia, "h0", keyed("login", "", identity.RoleMember, 2), limits("mia", "here")...), store.ErrNotFound)
	who := by("one", mia.UserID, identity.RoleMember, first.ID)
	found, _, err := a.Key(ctx, first.Hash)
	must(t, err)
	wantEqual(t, "the login", []string{found.TenantID, found.UserID, found.Email, string(found.Role), found.Kind}, []string{"one", mia.UserID, mia.Email, "member", store.KindLogin})
	list, _, err := s.APIKeys().List(who, store.KeyFilter{})
	must(t, err)
	wantEqual(t, "logins are no keys", len(list), 0)
	_, err = s.APIKeys().Revoke(who, first.ID)
	wantErr(t, "nor revoked as such", err, store.ErrNotFound)
	must(t, s.APIKeys().Create(who, keyed("ci", mia.UserID, identity.RoleMember, 3))) // which may outlive the login

	// A reader logs out, too, and only once.
	must(t, s.APIKeys().Logout(by("one", mia.UserID, identity.RoleReader, first.ID)))
	wantErr(t, "logged out twice", s.APIKeys().Logout(who), store.ErrInvalid)
	wantErr(t, "made with an ended login", s.APIKeys().Create(who, keyed("x", mia.UserID, identity.RoleMember, 4)), store.ErrForbidden)
	revoked := func(k *store.APIKey) bool {
		t.Helper()
		x, ok, err := a.Key(ctx, k.Hash)
		must(t, err)
		return !ok || !x.RevokedAt.IsZero()
	}
	wantEqual(t, "logged out", revoked(first), true)

	// The oldest of too many logins ends; a new password ends all.
	second := login(100)
	for i := range 50 {
		wantEqual(t, "the oldest login", revoked(second), false)
		first = login(101 + i)
	}
	wantEqual(t, "the oldest login of too many", revoked(second), true)
	wantEqual(t, "the newest login", revoked(first), false)
	made := keyed("made with it", mia.UserID, identity.RoleMember, 5)
	must(t, s.APIKeys().Create(by("one", mia.UserID, identity.RoleMember, first.ID), made))
	must(t, s.Accounts().SetPassword(admin, mia.UserID, "h2"))
	wantEqual(t, "after a new password", revoked(first), true)
	wantEqual(t, "a key that the login made, after a new password", revoked(made), true)
	if n := get[int64](t)(s.Maintenance().PruneAccess(ctx)); n != 0 {
		t.Errorf("%d new rows were pruned", n)
	}
}

// loginPauses end with a right password, and failures are forgotten one by one.
func loginPauses(t *testing.T, open Open) {
	a, ctx := open(t).Access(), t.Context()
	proxy := store.LoginLimit{Subject: "proxy", Free: 1, First: time.Hour, Most: time.Hour, Decay: time.Hour}
	try := func(limits ...store.LoginLimit) bool {
		t.Helper()
		wait := get[time.Duration](t)(a.TryLogin(ctx, limits...))
		wantEqual(t, "at most an hour", wait <= time.Hour, true)
		return wait == 0
	}
	wantEqual(t, "a free try", try(proxy), true)
	for range 3 { // right ones, after a failed one
		wantEqual(t, "a try after a right password", try(proxy), true)
		must(t, a.Forgive(ctx, proxy))
		wantEqual(t, "no pause", get[time.Duration](t)(a.LoginWait(ctx, proxy)), time.Duration(0))
	}
	wantEqual(t, "another wrong one", try(proxy), true)
	wantEqual(t, "must wait", try(proxy), false)
	if wait := get[time.Duration](t)(a.LoginWait(ctx, limits("x", "y")[0], proxy)); wait <= 0 || wait > time.Hour {
		t.Errorf("the pause is %s", wait)
	}

	other := store.LoginLimit{Subject: "other", First: time.Hour, Most: time.Hour, Decay: time.Hour}
	wantEqual(t, "the proxy must wait", try(other, proxy), false)
	wantEqual(t, "which does not count for another", try(other), true)
	soon := store.LoginLimit{Subject: "soon", Free: 1, First: time.Hour, Most: time.Hour, Decay: time.Microsecond}
	for range 5 {
		wantEqual(t, "a try after the others were forgotten", try(soon), true)
	}
}

// loginsAtOnce cannot pass the limit together.
func loginsAtOnce(t *testing.T, open Open) {
	s := open(t)
	var let atomic.Int64
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			wait, err := s.Access().TryLogin(context.Background(), limits("mia", fmt.Sprint("from ", i%3))...)
			if err != nil {
				t.Error(err)
			} else if wait == 0 {
				let.Add(1)
			}
		})
	}
	all.Wait()
	if n := let.Load(); n != 4 {
		t.Errorf("%d of 20 logins at once were tried, not 4", n)
	}
}

func audit(t *testing.T, open Open) {
	s := open(t)
	from := func(ctx context.Context) context.Context {
		return identity.WithOrigin(ctx, identity.Origin{RequestID: "r1", Address: "192.0.2.1"})
	}
	admin, reader, elsewhere := by("one", "ann", identity.RoleAdmin, "k"), by("one", "rolf", identity.RoleReader, ""), by("two", "ann", identity.RoleAdmin, "")
	entries := func(ctx context.Context, f store.AuditFilter) (all []store.AuditEntry) {
		t.Helper()
		f.Limit = 2
		for more := true; more; more = f.Cursor != "" {
			page, next, err := s.AuditLog(ctx, f)
			must(t, err)
			all = append(all, page...)
			f.Cursor = next
		}
		return all
	}
	says := func(e store.AuditEntry) string { return e.UserID + " " + e.Action + " " + e.Object + " " + e.Outcome }
	must(t, s.Audit(from(reader), store.AuditExport, "rolf", ""))
	got := entries(admin, store.AuditFilter{})
	wantEqual(t, "entries", len(got), 1)
	wantEqual(t, "an entry", []string{says(got[0]), string(got[0].Role), got[0].RequestID, got[0].Address}, []string{"rolf user.export rolf ok", "reader", "r1", "192.0.2.1"})
	_, _, err := s.AuditLog(reader, store.AuditFilter{})
	wantErr(t, "read by a reader", err, store.ErrForbidden)
	_, _, err = s.AuditLog(by("one", "mia", identity.RoleMember, ""), store.AuditFilter{})
	wantErr(t, "read by a member", err, store.ErrForbidden)
	wantEqual(t, "of another tenant", entries(elsewhere, store.AuditFilter{}), []store.AuditEntry(nil))

	// Every change records itself, one that fails does not.
	before := time.Now().Add(-time.Hour)
	k := keyed("ci", "ann", identity.RoleAdmin, 1)
	own := by("one", "ann", identity.RoleAdmin, "")
	must(t, s.APIKeys().Create(own, k))
	if err := s.APIKeys().Create(own, keyed("ci", "ann", identity.RoleAdmin, 2)); !errors.Is(err, store.ErrConflict) {
		t.Error(err)
	}
	_, err = s.APIKeys().Revoke(own, k.ID)
	must(t, err)
	mia := addAccount(t, s, own, "mia@example.com", identity.RoleMember, "h1")
	login := keyed("login", "", identity.RoleMember, 3)
	must(t, s.Access().LoggedIn(t.Context(), mia, "h1", login, limits("mia", "here")...))
	must(t, s.Access().LoginRefused(t.Context(), "one", mia.UserID))
	must(t, s.Access().LoginRefused(t.Context(), "", "nobody"))
	must(t, s.APIKeys().Logout(by("one", mia.UserID, identity.RoleMember, login.ID)))
	must(t, s.Accounts().SetPassword(own, mia.UserID, "h2"))
	must(t, s.Accounts().Remove(own, mia.UserID))
	begin(t, s, own, "trip", "hello")
	must(t, s.DeleteSession(own, "trip"))
	must(t, s.PutSchema(own, &store.Schema{Name: "doc", Content: "x"}))
	must(t, s.DeleteSchema(own, "doc"))
	must(t, s.Files().Put(own, &store.File{Name: "paper", URI: "file:///paper"}))
	must(t, s.Files().Delete(own, "paper"))
	run := start(t, s, own, "s", userMessage("x"))
	q := store.RunRequest{ID: newID(), Kind: "approval", Message: "?"}
	write(t, s, own, store.RunWrite{RunID: run, Requests: []store.RunRequest{q}})
	get[store.RunRequest](t)(s.Decide(own, q.ID, store.Decision{Status: store.RequestDeclined, Comment: "secret"}))
	want := []string{
		"ann approval.answer " + q.ID + " declined", "ann file.delete paper ok", "ann document.delete doc ok", "ann session.delete trip ok",
		"ann user.remove " + mia.UserID + " ok", "ann user.password " + mia.UserID + " ok",
		mia.UserID + " auth.logout " + login.ID + " ok", mia.UserID + " auth.login " + mia.UserID + " refused", mia.UserID + " auth.login " + login.ID + " ok",
		"ann user.add " + mia.UserID + " ok", "ann key.revoke " + k.ID + " ok", "ann key.create " + k.ID + " admin ann ok", "rolf user.export rolf ok",
	}
	wantEqual(t, "the log", each(entries(admin, store.AuditFilter{Since: before}), says), want)
	wantEqual(t, "of an action and a user", each(entries(admin, store.AuditFilter{Action: store.AuditLogin, UserID: mia.UserID}), says), []string{want[7], want[8]})
	wantEqual(t, "before", entries(admin, store.AuditFilter{Before: before}), []store.AuditEntry(nil))
	wantEqual(t, "of no tenant", len(entries(by(identity.SystemTenant, "", "", ""), store.AuditFilter{})), 1)

	if n := get[int64](t)(s.Maintenance().Expire(t.Context(), store.KeepAudit, "", before)); n != 0 {
		t.Errorf("%d new entries were pruned", n)
	}
	if n := get[int64](t)(s.Maintenance().Expire(t.Context(), store.KeepAudit, "", time.Now().Add(time.Hour))); n < int64(len(want)) {
		t.Errorf("%d old entries were pruned", n)
	}
	wantEqual(t, "after retention", entries(admin, store.AuditFilter{}), []store.AuditEntry(nil))
}
