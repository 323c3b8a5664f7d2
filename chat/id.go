package chat

import (
	"crypto/rand"
	"time"

	"github.com/google/uuid"
)

// newID returns a UUID of version 7: it begins with the time, so that rows which are
// written together lie together in an index. uuid.NewV7 is not used: it allocates, and a
// turn needs several ids.
func newID() string {
	var u uuid.UUID
	// crypto/rand never fails: it ends the program where there is no randomness.
	_, _ = rand.Read(u[6:])
	ms := time.Now().UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	u[6] = u[6]&0x0f | 0x70
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}
