package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
)

// Key is an API key, or the token of a login, as the store has it.
type Key struct {
	ID, TenantID, UserID, Email string
	Role                        identity.Role
	// Hash is that of [HashKey].
	Hash string
	// Expires is zero for a key that does not expire.
	Expires time.Time
	Revoked bool
	// Used is when the use of the key was recorded last.
	Used time.Time
}

const (
	// keyMark begins every key. Secret scanners find keys by it and by their checksum.
	keyMark = "p8_"
	// keySecret is the number of random bytes of a key, 256 bits.
	keySecret = 32
	// keyShown is the length of the beginning of a key that is stored and shown. It leaves
	// 216 unknown bits.
	keyShown = len(keyMark) + 8
)

// keyText is the encoding of a key: a double click selects all of its characters.
func keyText() *base32.Encoding {
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
}

// NewKey returns a new key: 256 random bits and their checksum.
func NewKey() string {
	raw := make([]byte, keySecret, keySecret+crc32.Size)
	_, _ = rand.Read(raw) // it never fails
	return keyMark + keyText().EncodeToString(binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw)))
}

// KeyPrefix returns the beginning of a key, by which people recognise it.
func KeyPrefix(key string) string { return key[:min(len(key), keyShown)] }

// HashKey returns the hash by which the store finds a key. A fast hash is right here: it is
// salt and stretching that protect secrets which can be guessed, and 256 random bits cannot.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// looksLikeKey reports whether a token is meant as a key; isWhole, whether its checksum is
// right, so that a mistyped key is refused without the database.
func looksLikeKey(token string) bool { return strings.HasPrefix(token, keyMark) }

func isWhole(key string) bool {
	text := keyText()
	if len(key) != len(keyMark)+text.EncodedLen(keySecret+crc32.Size) {
		return false
	}
	raw, err := text.DecodeString(key[len(keyMark):])
	return err == nil && binary.BigEndian.Uint32(raw[keySecret:]) == crc32.ChecksumIEEE(raw[:keySecret])
}
