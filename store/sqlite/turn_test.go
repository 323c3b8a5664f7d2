package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// While somebody else has the turn, nobody of this process writes; afterwards
// everybody does.
func TestTurn(t *testing.T) {
	e := testEngine(t)
	s := store.New(e)
	release, err := s.Maintenance().Turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(caller(t.Context()), 20*time.Millisecond)
	defer cancel()
	if err := s.BeginTurn(ctx, store.Session{ID: "s"}, message("s", "x")); err == nil {
		t.Error("a row was written in somebody else's turn")
	}
	release()
	if err := s.BeginTurn(caller(t.Context()), store.Session{ID: "s"}, message("s", "x")); err != nil {
		t.Error(err)
	}
}
