package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// by returns the context of a caller with a role; key is the id of the caller's key.
func by(tenant, user string, role identity.Role, key string) context.Context {
	return identity.With(context.Background(), identity.Identity{TenantID: tenant, UserID: user, Role: role, KeyID: key})
}

// keyed is a key as the calling code makes one; n makes its hash.
func keyed(name, user string, role identity.Role, n int) *store.APIKey {
	return &store.APIKey{Name: name, UserID: user, Role: role, Prefix: "p8_x", Hash: fmt.Sprintf("%064x", n)}
}

func apiKeys(t *testing.T, open Open) {
	s := open(t)
	keys := s.APIKeys()
	create := func(ctx context.Context, k *store.APIKey) *store.APIKey {
		t.Helper()
		must(t, keys.Create(ctx, k))
		return k
	}
	admin, member, reader := by("one", "ann", identity.RoleAdmin, ""), by("one", "mia", identity.RoleMember, ""), by("one", "rolf", identity.RoleReader, "")
	elsewhere, operator, service := by("two", "ann", identity.RoleAdmin, ""), by("one", "", "", ""), by("one", "", identity.RoleMember, "")

	visitor := by("one", "visitor-1", identity.RoleMember, "")
	own := create(member, keyed("ci", "mia", identity.RoleMember, 1))
	if own.ID == "" || own.TenantID != "one" || own.CreatedBy != "mia" || own.CreatedAt.IsZero() {
		t.Errorf("created %+v", own)
	}
	others := create(elsewhere, keyed("ci", "ann", identity.RoleAdmin, 2)) // the name of a key in another tenant
	annas := create(admin, keyed("ci", "ann", identity.RoleAdmin, 3))
	services := create(operator, keyed("ci", "", identity.RoleAdmin, 4))
	for what, err := range map[string]error{
		"the name again":             keys.Create(member, keyed("ci", "mia", identity.RoleReader, 9)),
		"the name again, by another": keys.Create(admin, keyed("ci", "mia", identity.RoleReader, 9)),
		"a service's name again":     keys.Create(admin, keyed("ci", "", identity.RoleReader, 9)),
	} {
		wantErr(t, what, err, store.ErrConflict)
		if !strings.Contains(err.Error(), `there is a key "ci" already`) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{
		"by a reader":               keys.Create(reader, keyed("x", "rolf", identity.RoleReader, 9)),
		"more rights":               keys.Create(member, keyed("x", "mia", identity.RoleAdmin, 9)),
		"another's":                 keys.Create(member, keyed("x", "ann", identity.RoleMember, 9)),
		"a service's":               keys.Create(member, keyed("x", "", identity.RoleReader, 9)),
		"a service's, by a service": keys.Create(service, keyed("x", "", identity.RoleReader, 9)),
		"a visitor's":               keys.Create(visitor, keyed("x", "visitor-1", identity.RoleMember, 9)),
	} {
		wantErr(t, what, err, store.ErrForbidden)
	}
	late := keyed("x", "mia", identity.RoleMember, 9)
	late.ExpiresAt = time.Now().Add(-time.Second)
	short := keyed("x", "mia", identity.RoleMember, 9)
	short.Hash = "abc"
	for what, err := range map[string]error{
		"no role":      keys.Create(member, keyed("x", "mia", "", 9)),
		"another role": keys.Create(member, keyed("x", "mia", "root", 9)),
		"no name":      keys.Create(member, keyed("", "mia", identity.RoleMember, 9)),
		"a long name":  keys.Create(member, keyed(strings.Repeat("x", 129), "mia", identity.RoleMember, 9)),
		"a line feed":  keys.Create(member, keyed("a\nb", "mia", identity.RoleMember, 9)),
		"expired":      keys.Create(member, late),
		"no hash":      keys.Create(member, short),
		"a visitor's":  keys.Create(admin, keyed("x", "visitor-1", identity.RoleMember, 9)),
	} {
		wantErr(t, what, err, store.ErrInvalid)
	}

	list := func(ctx context.Context, f store.KeyFilter) (ids []string) {
		t.Helper()
		f.Limit = 2
		for more := true; more; more = f.Cursor != "" {
			page, next, err := keys.List(ctx, f)
			must(t, err)
			for _, k := range page {
				ids = append(ids, k.ID)
				wantEqual(t, "hash", k.Hash, "")
			}
			f.Cursor = next
		}
		return ids
	}
	wantEqual(t, "all of a tenant", list(admin, store.KeyFilter{}), []string{services.ID, annas.ID, own.ID})
	wantEqual(t, "all of another", list(elsewhere, store.KeyFilter{}), []string{others.ID})
	wantEqual(t, "of a user", list(admin, store.KeyFilter{UserID: "mia", Name: "ci"}), []string{own.ID})
	wantEqual(t, "one's own", list(member, store.KeyFilter{}), []string{own.ID})
	wantEqual(t, "a reader's own", list(reader, store.KeyFilter{}), []string(nil))
	for what, ctx := range map[string]context.Context{"another's list": member, "a service's list": service, "a visitor's list": visitor} {
		_, _, err := keys.List(ctx, store.KeyFilter{UserID: "ann"})
		wantErr(t, what, err, store.ErrForbidden)
	}

	// A key that is made with a key does not outlive it, and not its revocation.
	soon := keyed("soon", "mia", identity.RoleMember, 5)
	soon.ExpiresAt = time.Now().Add(time.Hour)
	create(member, soon)
	with := by("one", "mia", identity.RoleMember, soon.ID)
	wantErr(t, "for ever", keys.Create(with, keyed("x", "mia", identity.RoleMember, 9)), store.ErrForbidden)
	child := keyed("child", "mia", identity.RoleMember, 6)
	child.ExpiresAt = soon.ExpiresAt
	create(with, child)
	wantEqual(t, "made with", child.MadeWith, soon.ID)
	grandchild := keyed("grandchild", "mia", identity.RoleReader, 8)
	grandchild.ExpiresAt = soon.ExpiresAt
	create(by("one", "mia", identity.RoleMember, child.ID), grandchild)

	revoke := func(ctx context.Context, id string) error { _, err := keys.Revoke(ctx, id); return err }
	for what, err := range map[string]error{
		"another tenant's": revoke(elsewhere, own.ID), "another's": revoke(member, annas.ID), "a service's": revoke(member, services.ID),
		"a service's, by a service": revoke(service, services.ID), "none": revoke(admin, "x"), "no text": revoke(admin, "a\x00b"),
	} {
		wantErr(t, "revoke "+what, err, store.ErrNotFound)
	}
	wantErr(t, "revoke by a reader", revoke(reader, own.ID), store.ErrForbidden)
	must(t, revoke(member, own.ID))
	wantErr(t, "revoked twice", revoke(member, own.ID), store.ErrNotFound)
	must(t, revoke(admin, soon.ID))
	wantErr(t, "made with a revoked key", keys.Create(with, child), store.ErrForbidden)
	wantEqual(t, "the rest", list(member, store.KeyFilter{}), []string(nil))
	wantEqual(t, "with the revoked ones", list(member, store.KeyFilter{Revoked: true}), []string{grandchild.ID, child.ID, soon.ID, own.ID})
	create(member, keyed("ci", "mia", identity.RoleMember, 7)) // the name is free again

	found := func(n int) store.APIKey {
		t.Helper()
		k, ok, err := s.Access().Key(t.Context(), fmt.Sprintf("%064x", n))
		must(t, err)
		wantEqual(t, fmt.Sprintf("key %d is there", n), ok, true)
		return k
	}
	got := found(5)
	wantEqual(t, "by its hash", []string{got.ID, got.TenantID, got.UserID, string(got.Role), got.Kind}, []string{soon.ID, "one", "mia", "member", store.KindKey})
	if got.RevokedAt.IsZero() || !got.ExpiresAt.Equal(soon.ExpiresAt) || !got.LastUsedAt.IsZero() {
		t.Errorf("by its hash: %+v", got)
	}
	if _, ok, err := s.Access().Key(t.Context(), "\x00"); ok || err != nil {
		t.Errorf("no hash: %v, %v", ok, err)
	}
	must(t, s.Access().KeyUsed(t.Context(), "one", child.ID, time.Hour))
	used := found(6).LastUsedAt
	if used.IsZero() {
		t.Error("the use of a key is not recorded")
	}
	must(t, s.Access().KeyUsed(t.Context(), "one", child.ID, time.Hour))
	wantEqual(t, "used again", found(6).LastUsedAt, used)
	wantErr(t, "a key is no login", keys.Logout(by("one", "mia", identity.RoleReader, child.ID)), store.ErrInvalid)
}

// manyKeys bounds the keys of a user.
func manyKeys(t *testing.T, open Open) {
	s := open(t)
	ctx := by("one", "mia", identity.RoleMember, "")
	for i := range 200 {
		must(t, s.APIKeys().Create(ctx, keyed(fmt.Sprint("k", i), "mia", identity.RoleReader, i)))
	}
	wantErr(t, "one more", s.APIKeys().Create(ctx, keyed("x", "mia", identity.RoleReader, 999)), store.ErrConflict)
	must(t, s.APIKeys().Create(by("one", "eve", identity.RoleMember, ""), keyed("x", "eve", identity.RoleReader, 999)))
}
