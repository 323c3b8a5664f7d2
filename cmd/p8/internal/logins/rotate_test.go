package logins

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"os"
	"testing"

	"github.com/p8-org/p8/internal/seal"
)

// Logins are sealed anew with the first key; those that no key opens, and those of an older p8,
// stay.
func TestRotate(t *testing.T) {
	dir := t.TempDir()
	ann, bob, eve := as(t, "acme", "ann"), as(t, "acme", "bob"), as(t, "acme", "eve")
	put(t, ForMCP(dir, "one"), ann, crm, "of ann")
	put(t, ForMCP(dir, "two"), bob, crm, "of bob")
	put(t, ForMCP(dir, "lost"), eve, crm, "of eve")
	for _, want := range []seal.Rotation{{Sealed: 1, Same: 1, Failed: 1}, {Same: 2, Failed: 1}} {
		n, err := ForMCP(dir, "two,one").Rotate(t.Context())
		if n.Err == nil || err != nil {
			t.Error(n.Err, err)
		}
		if n.Err = nil; n != want {
			t.Errorf("%+v, want %+v", n, want)
		}
	}
	if a, b, e := access(t, ForMCP(dir, "two"), ann, crm), access(t, ForMCP(dir, "two"), bob, crm), access(t, ForMCP(dir, "lost"), eve, crm); a != "of ann" || b != "of bob" || e != "of eve" {
		t.Errorf("%q %q %q", a, b, e)
	}
	if n, err := ForMCP(t.TempDir(), "two").Rotate(t.Context()); n != (seal.Rotation{}) || err != nil {
		t.Error(n, err)
	}
}

// A login of an older p8, whose file has no key id, is read, and sealed anew when it is renewed.
func TestOlderLogin(t *testing.T) {
	dir, ann := t.TempDir(), as(t, "acme", "ann")
	f := ForMCP(dir, "one")
	put(t, f, ann, crm, "")
	name, about, err := f.place(ann, crm)
	if err != nil {
		t.Fatal(err)
	}
	key, err := hkdf.Key(sha256.New, []byte("one"), nil, "p8 logins of MCP servers", 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	older := aead.Seal(nil, nil, []byte(`{"server":"`+crm+`","access":"older"}`), about)
	if err := os.WriteFile(name, older, 0o600); err != nil {
		t.Fatal(err)
	}
	rotated := func() seal.Rotation {
		n, err := ForMCP(dir, "two,one").Rotate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got, n := access(t, ForMCP(dir, "two,one"), ann, crm), rotated(); got != "older" || n != (seal.Rotation{Older: 1}) {
		t.Errorf("%q %+v", got, n)
	}
	put(t, ForMCP(dir, "two,one"), ann, crm, "newer")
	if got, n := access(t, ForMCP(dir, "two"), ann, crm), rotated(); got != "newer" || n != (seal.Rotation{Same: 1}) {
		t.Errorf("%q %+v", got, n)
	}
}
