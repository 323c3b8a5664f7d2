package sqlite

import (
	"context"
	"errors"
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

// TestTurnAtClose: Close takes the connections; a caller that has its turn, but no
// connection yet, does not wait for one.
func TestTurnAtClose(t *testing.T) {
	e := newEngine("", 1)
	<-e.readers // as Close does
	close(e.closed)
	if _, err := e.take(caller(t.Context()), e.reading, e.readers); !errors.Is(err, errClosed) {
		t.Errorf("a closed engine: %v", err)
	}
}
