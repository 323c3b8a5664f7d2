package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/p8-org/p8/store"
)

// Cost is what a hash of a password takes (argon2id, RFC 9106); the zero value is right but for
// tests.
type Cost struct {
	// Memory is in KiB.
	Memory, Passes uint32
}

// usual takes 19 MiB and two passes, as OWASP recommends at least: a server with little memory
// can make it.
var usual = Cost{Memory: 19 << 10, Passes: 2}

const (
	minPassword = 12   // characters
	maxPassword = 1024 // bytes
	saltBytes   = 16
	hashBytes   = 32
	// hashing is how many logins are checked at once, waiting how many wait for that.
	hashing, waiting = 2, 100
)

// checkPassword accepts a new password.
func checkPassword(password string) error {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		return fmt.Errorf("%w: the password is not text", store.ErrInvalid)
	case n < minPassword:
		return fmt.Errorf("%w: the password has only %d of the %d characters that it needs", store.ErrInvalid, n, minPassword)
	case len(password) > maxPassword:
		return tooLong()
	}
	return nil
}

func tooLong() error {
	return fmt.Errorf("%w: the password is longer than %d bytes", store.ErrInvalid, maxPassword)
}

// key derives the hash. Keyboards write letters with marks in two ways; both are one password.
func (c Cost) key(password string, salt []byte) []byte {
	return argon2.IDKey(norm.NFC.Bytes([]byte(password)), salt, c.Passes, c.Memory, 1, hashBytes)
}

// hash returns the hash of a password in the usual form: $argon2id$v=19$m=…,t=…,p=1$salt$hash.
func (s *Service) hash(ctx context.Context, password string) (string, error) {
	leave, err := s.renewals.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, s.o.Cost.Memory, s.o.Cost.Passes,
		b64.EncodeToString(salt), b64.EncodeToString(s.o.Cost.key(password, salt))), nil
}

// matches reports whether a password has a hash. Without a hash it takes as long, and is false.
func (s *Service) matches(password, hash string) bool {
	c, salt, want := s.o.Cost, make([]byte, saltBytes), make([]byte, hashBytes)
	known := false
	if parts := strings.Split(hash, "$"); len(parts) == 6 && parts[1] == "argon2id" {
		var stored Cost
		_, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=1", &stored.Memory, &stored.Passes)
		storedSalt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
		sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
		if known = err == nil && saltErr == nil && sumErr == nil && stored.Passes > 0 && len(sum) == hashBytes; known {
			c, salt, want = stored, storedSalt, sum
		}
	}
	return subtle.ConstantTimeCompare(c.key(password, salt), want) == 1 && known
}

// gate bounds the passwords that are hashed at once: each takes memory and time.
type gate struct {
	// hashing has a place for each password that is being hashed, waiting for each that is
	// to be.
	hashing, waiting chan struct{}
}

func newGate(hashing, waiting int) gate {
	return gate{make(chan struct{}, hashing), make(chan struct{}, waiting)}
}

// enter waits for a place among those who hash.
func (g gate) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		return nil, &WaitError{time.Second}
	}
	select {
	case g.hashing <- struct{}{}:
		return func() { <-g.hashing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
