package reminder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// shelf has moments in memory, with times of the test's clock.
type shelf struct {
	moments
	mu    sync.Mutex
	rows  []store.Moment
	finds int
	fails error
}

func (s *shelf) Find(_ context.Context, f store.Filter) ([]store.Moment, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finds++
	var found []store.Moment
	for _, m := range s.rows {
		if !m.CreatedAt.Before(f.Since) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b store.Moment) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return found[:min(len(found), f.Limit)], "", s.fails
}

func (s *shelf) Get(_ context.Context, id string) (store.Moment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.rows {
		if m.ID == id {
			return m, nil
		}
	}
	return store.Moment{}, store.ErrNotFound
}

// asked returns the number of calls of Find.
func (s *shelf) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finds
}

// add stores notification n with a time.
func (s *shelf) add(n int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var m store.Moment
	m.ID, m.CreatedAt = noteID(n), at
	m.Metadata, _ = json.Marshal(details{ReminderID: "r", Title: fmt.Sprint(n)})
	s.rows = append(s.rows, m)
}

func noteID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// following follows in a goroutine until stop, and collects the notifications.
func following(t *testing.T, s *Service, ctx context.Context, after string) (told func() string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	var names []string
	ended := make(chan error, 1)
	go func() {
		ended <- s.Follow(ctx, after, func(n Notification) error {
			mu.Lock()
			defer mu.Unlock()
			names = append(names, n.Name)
			return nil
		})
	}()
	return func() string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return strings.Join(names, " ")
		}, func() error {
			cancel()
			return <-ended
		}
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shelf := &shelf{}
		s := &Service{moments: shelf}
		ctx := as(t, "alice")
		shelf.add(1, time.Now())
		shelf.add(2, time.Now().Add(time.Second))
		fromNow, stopNow := following(t, s, ctx, "")
		fromOne, stopOne := following(t, s, ctx, noteID(1))
		if fromNow() != "" || fromOne() != "2" {
			t.Errorf("told %q and %q", fromNow(), fromOne())
		}

		// A notification of another process arrives with the next read of the store.
		time.Sleep(2*look + look/2)
		shelf.add(3, time.Now())
		if fromNow() != "" {
			t.Errorf("told %q at once", fromNow())
		}
		time.Sleep(look)
		// A notification with an earlier time is stored later.
		shelf.add(4, time.Now().Add(-10*time.Second))
		time.Sleep(look)
		if fromNow() != "3 4" || fromOne() != "2 3 4" {
			t.Errorf("told %q and %q", fromNow(), fromOne())
		}

		// A notification of this process arrives at once, and only to its user.
		time.Sleep(look / 4)
		shelf.add(5, time.Now())
		s.followers.wake(as(t, "bob"))
		if fromNow() != "3 4" {
			t.Errorf("woken for bob: %q", fromNow())
		}
		s.followers.wake(ctx)
		if fromNow() != "3 4 5" {
			t.Errorf("told %q", fromNow())
		}

		before := shelf.asked()
		time.Sleep(time.Minute)
		if n := shelf.asked() - before; n < 110 || n > 122 {
			t.Errorf("two followers asked %d times in a minute", n)
		}
		for _, stop := range []func() error{stopNow, stopOne} {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
		if s.followers.n != 0 || len(s.followers.all) != 0 {
			t.Errorf("%+v are left", s.followers.all)
		}
	})
}

func TestFollowFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shelf := &shelf{}
		s := &Service{moments: shelf}
		for n := range 1200 {
			shelf.add(n, time.Now().Add(time.Duration(n)*time.Second))
		}
		for after, want := range map[string]int{
			"":                                     0,
			noteID(1199):                           0,
			noteID(1190):                           9,
			noteID(10):                             970, // the newest 1000, some of which are looked at again
			noteID(5000):                           0,   // unknown, and says nothing of its time
			"not an id":                            0,
			"'; DROP --":                           0,
			noteID(1150):                           49,
			"019cab76-5300-7000-8000-000000000000": -1,
		} {
			told, stop := following(t, s, as(t, "alice"), after)
			if n := len(strings.Fields(told())); n != want && want >= 0 && !(after == noteID(10) && n >= want && n <= mostAtOnce) {
				t.Errorf("after %s: %d, want %d", after, n, want)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestFollowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shelf := &shelf{}
		s := &Service{moments: shelf}
		ctx := as(t, "alice")
		shelf.add(1, time.Now())
		shelf.add(2, time.Now().Add(time.Second))
		enough := errors.New("enough")
		if err := s.Follow(ctx, noteID(1), func(Notification) error { return enough }); err != enough {
			t.Errorf("fn failed, and Follow said %v", err)
		}
		shelf.fails = errors.New("away")
		if err := s.Follow(ctx, "", nil); err != shelf.fails {
			t.Errorf("the store failed, and Follow said %v", err)
		}
		if err := s.Follow(t.Context(), "", nil); !errors.Is(err, identity.ErrMissing) {
			t.Errorf("nobody follows: %v", err)
		}
		var leaves []func()
		for range maxFollowers {
			_, leave, err := s.followers.join(user{"acme", "bob"})
			must(t, err)
			leaves = append(leaves, leave)
		}
		if err := s.Follow(ctx, "", nil); !errors.Is(err, ErrBusy) {
			t.Errorf("too many: %v", err)
		}
		for _, leave := range leaves {
			leave()
		}
	})
}

// TestFollowDeleted: the id of a deleted notification still holds its time.
func TestFollowDeleted(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	w.remind(ctx, Request{When: "* * * * *"})
	w.goTo(start.Add(4 * time.Minute))
	notes := w.notes(ctx)
	must(t, w.store.Moments().Delete(ctx, notes[1].ID))
	var got []string
	enough := errors.New("enough")
	err := w.Follow(ctx, notes[1].ID, func(n Notification) error {
		if got = append(got, n.ID); n.ID == notes[len(notes)-1].ID {
			return enough
		}
		return nil
	})
	if want := []string{notes[2].ID, notes[3].ID}; !errors.Is(err, enough) || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: %v", got, want, err)
	}
}
