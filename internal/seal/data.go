package seal

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
)

// dataVersion begins what a data key seals; the id of the key and AES-256-GCM with a random
// nonce follow.
const dataVersion = 1

// dataHeader is the size of what precedes the nonce, in bytes.
const dataHeader = 1 + idSize

// DataKey seals values of one tenant. It is stored only as a master key has wrapped it. It is
// safe for concurrent use.
type DataKey struct {
	header []byte
	aead   cipher.AEAD
	words  []byte
}

// NewDataKey returns a new random key.
func NewDataKey() []byte {
	raw := make([]byte, 32)
	rand.Read(raw)
	return raw
}

// OpenDataKey returns the key of these bytes.
func OpenDataKey(raw []byte) (*DataKey, error) {
	if len(raw) != 32 {
		return nil, fmt.Errorf("a data key has %d bytes, not 32", len(raw))
	}
	k, err := derive(raw, "p8 data")
	if err != nil {
		return nil, err
	}
	words, err := hkdf.Key(sha256.New, raw, nil, "p8 words", 32)
	return &DataKey{append([]byte{dataVersion}, k.id...), k.aead, words}, err
}

// ID identifies the key; it reveals nothing of it.
func (k *DataKey) ID() string { return string(k.header[1:]) }

// DataKeyID returns the id of the key that sealed a value, "" for what no key has sealed.
func DataKeyID(sealed []byte) string {
	if len(sealed) < dataHeader || sealed[0] != dataVersion {
		return ""
	}
	return string(sealed[1:dataHeader])
}

// Seal encrypts a value for a place.
func (k *DataKey) Seal(plain []byte, place string) []byte {
	out := make([]byte, dataHeader, dataHeader+len(plain)+k.aead.Overhead())
	copy(out, k.header)
	return k.aead.Seal(out, nil, plain, k.authenticated(place))
}

// Open decrypts a value of a place. The error is ErrDamaged.
func (k *DataKey) Open(sealed []byte, place string) ([]byte, error) {
	if !bytes.HasPrefix(sealed, k.header) {
		return nil, ErrDamaged
	}
	plain, err := k.aead.Open(nil, nil, sealed[dataHeader:], k.authenticated(place))
	if err != nil {
		return nil, ErrDamaged
	}
	return plain, nil
}

func (k *DataKey) authenticated(place string) []byte {
	return append(k.header[:dataHeader:dataHeader], place...)
}

// Digest returns a function that makes a keyed digest of 32 bytes of a text: the same one of
// the same text, and of no use without the key. The function is for one goroutine.
func (k *DataKey) Digest() func(text string) []byte {
	mac := hmac.New(sha256.New, k.words)
	return func(text string) []byte {
		mac.Reset()
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
}

// Master wraps data keys with a ring. A service for keys can take its place.
type Master struct{ Ring *Ring }

// Wrap encrypts the data key of a tenant with the first key of the ring.
func (m Master) Wrap(_ context.Context, tenant string, key []byte) ([]byte, error) {
	return m.Ring.Seal(key, dataKeyPlace(tenant))
}

// Unwrap decrypts the data key of a tenant. old is true if it should be wrapped anew: another
// key than the first has wrapped it.
func (m Master) Unwrap(_ context.Context, tenant string, wrapped []byte) (key []byte, old bool, err error) {
	key, err = m.Ring.Open(wrapped, dataKeyPlace(tenant))
	if err != nil {
		return nil, false, err
	}
	return key, !m.Ring.isFirst(wrapped), nil
}

func dataKeyPlace(tenant string) []byte { return []byte("data key of " + tenant) }

// isFirst reports whether the first key has sealed a value, which the ring has opened.
func (r *Ring) isFirst(sealed []byte) bool {
	keys, err := r.load(false)
	return err == nil && len(keys) > 0 && bytes.HasPrefix(sealed, append([]byte(magic), keys[0].id...))
}
