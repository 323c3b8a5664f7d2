// Package seal encrypts the secrets that p8 stores, in the database and in files.
//
//	ring := seal.New(seal.Options{Keys: cfg.SecretKey, File: "data/secret.key", Purpose: "p8 database"})
//	sealed, err := ring.Seal(token, []byte("webhook of ann"))
//	token, err = ring.Open(sealed, []byte("webhook of ann"))
//
// A sealed value is a header with the id of the key, and AES-256-GCM with a random nonce. The
// place of the value (table, tenant, row) is authenticated with it, so that a value that was
// moved to another place does not open. The keys are derived from texts by HKDF-SHA256, for one
// purpose each.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// The header of a sealed value is magic and the id of the key.
const (
	magic  = "p8s1"
	idSize = 8
	header = len(magic) + idSize
)

// Options describe a ring.
type Options struct {
	// Keys are the texts of the keys, separated by commas, as in P8_SECRET_KEY: the first seals,
	// each opens.
	Keys string
	// File is the path of the key file, whose key counts after Keys. It is made, with its folder,
	// when something is sealed without Keys; "" means none.
	File string
	// Purpose separates rings: none opens what a ring of another purpose has sealed.
	Purpose string
}

// Ring is a list of keys. It is safe for concurrent use, also by several processes with one key
// file.
type Ring struct {
	o    Options
	mu   sync.Mutex
	keys []key
}

type key struct {
	id   string
	aead cipher.AEAD
}

// New returns a ring. It reads the key file when a key is needed.
func New(o Options) *Ring { return &Ring{o: o} }

// ErrDamaged means that a value was changed, or sealed for another place.
var ErrDamaged = errors.New("it was changed, or belongs elsewhere")

// KeyError means that the ring does not have the key of a value.
type KeyError struct {
	// ID is that of the key, "" if the value has none.
	ID string
}

// Error says what the operator has to set.
func (e *KeyError) Error() string {
	what := "it was sealed with another key"
	if e.ID != "" {
		what += " (" + e.ID + ")"
	}
	return what + ": set P8_SECRET_KEY to the text of all servers of this data, with old ones after it, separated by commas, or restore the key file"
}

// Keys returns the texts of a list of keys.
func Keys(list string) []string {
	if list == "" {
		return nil
	}
	keys := strings.Split(list, ",")
	for i := range keys {
		keys[i] = strings.TrimSpace(keys[i])
	}
	return keys
}

// Seal encrypts a value for a place with the first key.
func (r *Ring) Seal(plain, place []byte) ([]byte, error) {
	keys, err := r.load(true)
	if err != nil {
		return nil, err
	}
	head := append([]byte(magic), keys[0].id...)
	return keys[0].aead.Seal(head, nil, plain, authenticated(head, place)), nil
}

// Open decrypts a value of a place. The error is ErrDamaged, a [*KeyError], or that of the key
// file.
func (r *Ring) Open(sealed, place []byte) ([]byte, error) {
	if !IsSealed(sealed) {
		return nil, ErrDamaged
	}
	keys, err := r.load(false)
	if err != nil {
		return nil, err
	}
	head := sealed[:header]
	id := string(head[len(magic):])
	for _, k := range keys {
		if k.id == id {
			plain, err := k.aead.Open(nil, nil, sealed[header:], authenticated(head, place))
			if err != nil {
				return nil, ErrDamaged
			}
			return plain, nil
		}
	}
	return nil, &KeyError{hex.EncodeToString([]byte(id))}
}

// OpenOlder decrypts what an older p8 sealed: a value without a header, whose key was derived
// from the whole text of P8_SECRET_KEY.
func (r *Ring) OpenOlder(sealed, place []byte) ([]byte, error) {
	keys, err := r.load(false)
	if err != nil {
		return nil, err
	}
	if strings.Contains(r.o.Keys, ",") {
		whole, err := derive([]byte(r.o.Keys), r.o.Purpose)
		if err != nil {
			return nil, err
		}
		keys = append(keys[:len(keys):len(keys)], whole)
	}
	for _, k := range keys {
		if plain, err := k.aead.Open(nil, nil, sealed, place); err == nil {
			return plain, nil
		}
	}
	return nil, &KeyError{}
}

// Renew returns a value as the first key seals it; same is true if it is already.
func (r *Ring) Renew(sealed, place []byte) (renewed []byte, same bool, err error) {
	plain, err := r.Open(sealed, place)
	if err != nil {
		return nil, false, err
	}
	keys, err := r.load(false)
	if err != nil {
		return nil, false, err
	}
	if bytes.HasPrefix(sealed, append([]byte(magic), keys[0].id...)) {
		return sealed, true, nil
	}
	renewed, err = r.Seal(plain, place)
	return renewed, false, err
}

// IsSealed reports whether a value has the header of a sealed one.
func IsSealed(value []byte) bool {
	return len(value) > header && bytes.HasPrefix(value, []byte(magic))
}

// authenticated returns what is authenticated with a value: the header, too, so that nobody can
// make it name another key.
func authenticated(head, place []byte) []byte {
	return append(head[:len(head):len(head)], place...)
}

// load returns the keys, one at least if create is set.
func (r *Ring) load(create bool) ([]key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys) > 0 {
		return r.keys, nil
	}
	var keys []key
	add := func(secret []byte) error {
		k, err := derive(secret, r.o.Purpose)
		keys = append(keys, k)
		return err
	}
	for _, text := range Keys(r.o.Keys) {
		if text == "" {
			return nil, errors.New("P8_SECRET_KEY has an empty key: give texts separated by commas")
		}
		if err := add([]byte(text)); err != nil {
			return nil, err
		}
	}
	secret, err := r.readFile(create && len(keys) == 0)
	if err == nil && secret != nil {
		err = add(secret)
	}
	if err != nil {
		return nil, err
	}
	r.keys = keys
	return keys, nil
}

// derive returns the key of a secret for a purpose.
func derive(secret []byte, purpose string) (k key, err error) {
	raw, err := hkdf.Key(sha256.New, secret, nil, purpose, 32)
	if err != nil {
		return k, err
	}
	id, err := hkdf.Key(sha256.New, secret, nil, purpose+" id", idSize)
	if err != nil {
		return k, err
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return k, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return k, fmt.Errorf("derive a key: %w", err)
	}
	return key{string(id), aead}, nil
}
