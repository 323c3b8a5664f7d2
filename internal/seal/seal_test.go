package seal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const purpose = "test"

func with(keys string) *Ring { return New(Options{Keys: keys, Purpose: purpose}) }

func sealed(t *testing.T, r *Ring, plain, place string) []byte {
	t.Helper()
	b, err := r.Seal([]byte(plain), []byte(place))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A value opens with each ring that has its key, at its place, unless it was changed.
func TestOpen(t *testing.T) {
	value := sealed(t, with("one"), "secret", "here")
	changed := func(at int) []byte {
		b := bytes.Clone(value)
		b[at] ^= 1
		return b
	}
	for _, tt := range []struct {
		name    string
		ring    *Ring
		sealed  []byte
		place   string
		damaged bool
		key     bool
	}{
		{name: "its key", ring: with("one"), sealed: value, place: "here"},
		{name: "an old key", ring: with("two, one"), sealed: value, place: "here"},
		{name: "an old key on a line of its own", ring: with("two,\none"), sealed: value, place: "here"},
		{name: "another key", ring: with("two"), sealed: value, place: "here", key: true},
		{name: "no key", ring: with(""), sealed: value, place: "here", key: true},
		{name: "another purpose", ring: New(Options{Keys: "one", Purpose: "other"}), sealed: value, place: "here", key: true},
		{name: "another place", ring: with("one"), sealed: value, place: "there", damaged: true},
		{name: "a changed magic", ring: with("one"), sealed: changed(0), place: "here", damaged: true},
		{name: "a changed key id", ring: with("one"), sealed: changed(len(magic)), place: "here", key: true},
		{name: "a changed nonce", ring: with("one"), sealed: changed(header), place: "here", damaged: true},
		{name: "a changed text", ring: with("one"), sealed: changed(header + 12), place: "here", damaged: true},
		{name: "a changed tag", ring: with("one"), sealed: changed(len(value) - 1), place: "here", damaged: true},
		{name: "cut", ring: with("one"), sealed: value[:header+3], place: "here", damaged: true},
		{name: "the header alone", ring: with("one"), sealed: value[:header], place: "here", damaged: true},
		{name: "nothing", ring: with("one"), place: "here", damaged: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.ring.Open(tt.sealed, []byte(tt.place))
			var key *KeyError
			if errors.Is(err, ErrDamaged) != tt.damaged || errors.As(err, &key) != tt.key {
				t.Fatalf("%q, %v", got, err)
			}
			if err == nil && string(got) != "secret" {
				t.Errorf("%q", got)
			}
			if key != nil && !strings.Contains(err.Error(), "P8_SECRET_KEY") {
				t.Error(err)
			}
		})
	}
	if bytes.Contains(value, []byte("secret")) || bytes.Equal(value, sealed(t, with("one"), "secret", "here")) {
		t.Error("the value is not encrypted, or always the same")
	}
}

func TestRenew(t *testing.T) {
	value := sealed(t, with("one"), "secret", "here")
	for _, keys := range []string{"one", "one,two"} {
		if got, same, err := with(keys).Renew(value, []byte("here")); !same || err != nil || !bytes.Equal(got, value) {
			t.Errorf("%s: %v %v", keys, same, err)
		}
	}
	renewed, same, err := with("two,one").Renew(value, []byte("here"))
	if same || err != nil {
		t.Fatal(same, err)
	}
	if got, err := with("two").Open(renewed, []byte("here")); string(got) != "secret" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, _, err := with("two").Renew(value, []byte("here")); err == nil {
		t.Error("a value without a key was renewed")
	}
}

// The key file is made once, with several processes at a time; it counts as an old key beside a
// setting.
func TestKeyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "key")
	ring := func(keys string) *Ring { return New(Options{Keys: keys, File: file, Purpose: purpose}) }
	if _, err := ring("").Open([]byte(magic+"12345678 and more"), nil); err == nil {
		t.Error("opened without a key")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a look made the file")
	}
	values := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range values {
		all.Go(func() { values[i], _ = ring("").Seal([]byte("secret"), nil) })
	}
	all.Wait()
	for _, v := range values {
		for _, keys := range []string{"", "set later"} {
			if got, err := ring(keys).Open(v, nil); string(got) != "secret" {
				t.Errorf("%q %v", got, err)
			}
		}
		if _, same, err := ring("set later").Renew(v, nil); same || err != nil {
			t.Error(same, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if err := os.WriteFile(file, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ring("").Seal(nil, nil); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	if _, err := with("").Seal(nil, nil); err == nil || !strings.Contains(err.Error(), "set P8_SECRET_KEY") {
		t.Error(err)
	}
	if _, err := with("one,,two").Seal(nil, nil); err == nil {
		t.Error("an empty key seals")
	}
}

// The text of a setting with a comma was one key in an older p8.
func TestOpenOlder(t *testing.T) {
	for _, keys := range []string{"one", "one, two"} {
		k, err := derive([]byte(keys), purpose)
		if err != nil {
			t.Fatal(err)
		}
		older := k.aead.Seal(nil, nil, []byte("secret"), []byte("here"))
		if got, err := with(keys).OpenOlder(older, []byte("here")); string(got) != "secret" {
			t.Errorf("%q %v", got, err)
		}
		for _, wrong := range []*Ring{with(""), with("three")} {
			if _, err := wrong.OpenOlder(older, []byte("here")); err == nil {
				t.Error("another key opens it")
			}
		}
	}
}
