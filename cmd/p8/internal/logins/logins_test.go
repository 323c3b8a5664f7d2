package logins

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/tool/mcp"
)

func as(t *testing.T, tenant, user string) context.Context {
	return identity.With(t.Context(), identity.Identity{TenantID: tenant, UserID: user})
}

func put(t *testing.T, f MCP, ctx context.Context, server, access string) {
	t.Helper()
	if err := f.PutLogin(ctx, &mcp.Login{Server: server, Access: access, Refresh: "secret-refresh"}); err != nil {
		t.Fatal(err)
	}
}

func access(t *testing.T, f MCP, ctx context.Context, server string) string {
	t.Helper()
	l, err := f.Login(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	if l == nil {
		return ""
	}
	return l.Access
}

const crm = "https://crm.example.com/mcp"

func TestLoginsBelongToOnePersonAndServer(t *testing.T) {
	dir := t.TempDir()
	f := ForMCP(dir, "")
	ann := as(t, "acme", "ann")
	if got := access(t, f, ann, crm); got != "" {
		t.Errorf("before the first: %q", got)
	}
	put(t, f, ann, crm, "secret-access")
	put(t, f, as(t, "acme", "bob"), crm, "of bob")
	put(t, f, ann, crm, "secret-access-2")
	again := ForMCP(dir, "")
	for _, c := range []struct {
		ctx          context.Context
		server, want string
	}{
		{ann, crm, "secret-access-2"}, {as(t, "acme", "bob"), crm, "of bob"}, {as(t, "", "ann"), crm, ""},
		{as(t, "other", "ann"), crm, ""}, {as(t, "acme", ""), crm, ""}, {ann, crm + "/other", ""},
	} {
		if got := access(t, again, c.ctx, c.server); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if found, err := f.DeleteLogin(ann, crm); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := f.DeleteLogin(ann, crm); found || err != nil {
		t.Error(found, err)
	}
	if access(t, again, ann, crm) != "" || access(t, again, as(t, "acme", "bob"), crm) != "of bob" {
		t.Error("a logout deleted the wrong login")
	}
}

func TestLoginsAreEncrypted(t *testing.T) {
	dir := t.TempDir()
	f := ForMCP(dir, "")
	put(t, f, as(t, "acme", "ann"), crm, "secret-access")
	put(t, f, as(t, "acme", "bob"), crm, "of bob")
	var files []string
	entries, err := os.ReadDir(filepath.Join(dir, FolderMCP))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, FolderMCP, e.Name())
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), info.Mode(), err)
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, clear := range []string{"secret", "crm", "ann", "access"} {
			if bytes.Contains(raw, []byte(clear)) {
				t.Errorf("%s contains %s", e.Name(), clear)
			}
		}
		if e.Name() != keyFile {
			files = append(files, name)
		}
	}
	if len(entries) != 3 || len(files) != 2 {
		t.Fatalf("%d files", len(entries))
	}
	// A file is nobody else's.
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[1], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	_, first := f.Login(as(t, "acme", "ann"), crm)
	_, second := f.Login(as(t, "acme", "bob"), crm)
	if (first == nil) == (second == nil) {
		t.Errorf("a swapped file: %v, %v", first, second)
	}
}

func TestKeyOfTheSetting(t *testing.T) {
	dir := t.TempDir()
	ann := as(t, "acme", "ann")
	put(t, ForMCP(dir, "one"), ann, crm, "secret-access")
	if got := access(t, ForMCP(dir, "one"), ann, crm); got != "secret-access" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(dir, FolderMCP, keyFile)); err == nil {
		t.Error("there is a key file")
	}
	for _, other := range []string{"two", ""} {
		if _, err := ForMCP(dir, other).Login(ann, crm); err == nil {
			t.Errorf("the key %q reads it", other)
		}
	}
}

// The first logins of several processes have one key.
func TestFirstLoginsAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for _, user := range []string{"a", "b", "c", "d", "e", "f"} {
		all.Go(func() {
			if err := ForMCP(dir, "").PutLogin(as(t, "", user), &mcp.Login{Server: crm, Access: user}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, user := range []string{"a", "b", "c", "d", "e", "f"} {
		if got := access(t, ForMCP(dir, ""), as(t, "", user), crm); got != user {
			t.Errorf("%s: %q", user, got)
		}
	}
}

// Of several processes, which have files of their own, one renews a login at a time; another
// login is not held up.
func TestLoginsAreLocked(t *testing.T) {
	dir := t.TempDir()
	ann := as(t, "", "ann")
	if err := ForMCP(dir, "").PutLogin(ann, &mcp.Login{Server: crm, Access: "a"}); err != nil {
		t.Fatal(err)
	}
	var inside, most atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			unlock, err := ForMCP(dir, "").LockLogin(ann, crm)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			most.Store(max(most.Load(), inside.Add(1)))
			runtime.Gosched()
			inside.Add(-1)
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d renew at a time", most.Load())
	}
	unlock, err := ForMCP(dir, "").LockLogin(ann, crm)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	other, err := ForMCP(dir, "").LockLogin(as(t, "", "bob"), crm)
	if err != nil {
		t.Fatal(err)
	}
	other()
	given, cancel := context.WithCancel(ann)
	cancel()
	if _, err := ForMCP(dir, "").LockLogin(given, crm); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A login of an older p8 is found by its older name; all logins of a person are deleted at
// once, and nobody else's.
func TestDeleteAllLogins(t *testing.T) {
	dir := t.TempDir()
	f, ann, bob := ForMCP(dir, ""), as(t, "acme", "ann"), as(t, "acme", "bob")
	put(t, f, ann, crm, "one")
	name, about, err := f.place(ann, crm)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, f.older(about)); err != nil {
		t.Fatal(err)
	}
	if got := access(t, f, ann, crm); got != "one" {
		t.Errorf("by the older name: %q", got)
	}
	put(t, f, ann, crm, "two")
	put(t, f, ann, crm+"/b", "three")
	put(t, f, bob, crm, "of bob")
	put(t, f, as(t, "other", "ann"), crm, "elsewhere")
	if err := f.DeleteLogins(ann); err != nil {
		t.Fatal(err)
	}
	if a, b := access(t, f, ann, crm), access(t, f, ann, crm+"/b"); a != "" || b != "" {
		t.Errorf("left: %q, %q", a, b)
	}
	if a, b := access(t, f, bob, crm), access(t, f, as(t, "other", "ann"), crm); a == "" || b == "" {
		t.Errorf("of others: %q, %q", a, b)
	}
	if err := ForMCP(t.TempDir(), "").DeleteLogins(ann); err != nil {
		t.Errorf("without any: %v", err)
	}
}
