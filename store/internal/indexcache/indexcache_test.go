package indexcache_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/p8-org/p8/store/internal/indexcache"
)

// key names an index; its group is the part before the slash.
type key string

func (k key) Group() string {
	group, _, _ := strings.Cut(string(k), "/")
	return group
}

// index records how it was made.
type index struct {
	size            int
	builds, updates int
}

func (x *index) Size() int { return x.size }

// source builds indexes of a size, after wait, unless err says otherwise.
type source struct {
	size int
	err  error
	wait chan struct{}
	// calls counts builds and updates.
	calls int
}

func (s *source) Build(context.Context) (*index, error) {
	s.calls++
	if s.wait != nil {
		<-s.wait
	}
	return &index{size: s.size, builds: 1}, s.err
}

func (s *source) Update(_ context.Context, x *index, rows map[int]bool) (*index, error) {
	s.calls++
	x.updates += len(rows)
	return x, s.err
}

type cache = indexcache.Cache[string, key, int, *index]

func open(t *testing.T, c *cache, k key, s *source) index {
	t.Helper()
	x, release, err := c.Open(t.Context(), k, s)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	return *x
}

func newCache(o indexcache.Options) *cache { return indexcache.New[string, key, int, *index](o) }

func TestOpenReadsWhatChanged(t *testing.T) {
	c, s := newCache(indexcache.Options{Budget: 1000, MaxDirty: 3}), &source{}
	open(t, c, "g/a", s)
	open(t, c, "g/b", s)
	if x := open(t, c, "g/a", s); s.calls != 2 || x.updates != 0 {
		t.Errorf("an index that nothing changed was read again: %d calls", s.calls)
	}
	c.Changed("g", 1, 2, 2)
	c.Changed("other", 3)
	if a, b := open(t, c, "g/a", s), open(t, c, "g/b", s); a.updates != 2 || b.updates != 2 {
		t.Errorf("%d and %d rows were read again, want 2 of each index of the group", a.updates, b.updates)
	}
	c.Changed("g", 1, 2, 3, 4)
	if a := open(t, c, "g/a", s); a.updates != 0 {
		t.Errorf("the index has %d updates, want a new build: more than MaxDirty rows changed", a.updates)
	}
	c.Reset()
	before := s.calls
	open(t, c, "g/a", s)
	if s.calls != before+1 {
		t.Error("Reset kept an index")
	}
	if hits, misses, bytes := c.Use(); hits != 1 || misses != 6 || bytes != 0 {
		t.Errorf("%d hits, %d misses, %d bytes", hits, misses, bytes)
	}
}

func TestLeastRecentlyUsedIsEvicted(t *testing.T) {
	c, s := newCache(indexcache.Options{Budget: 10 * 100, Entry: 100, MaxDirty: 1}), &source{}
	for i := range 100 {
		open(t, c, "used", s)
		open(t, c, key(rune('a'+i)), s)
	}
	if s.calls != 101 {
		t.Errorf("%d builds, want 101: the index in use was evicted, or another one was built twice", s.calls)
	}
	open(t, c, key(rune('a'+99-8)), s) // with "used" and this one, ten
	if s.calls != 101 {
		t.Error("fewer than 10 indexes are kept")
	}
	open(t, c, "a", s)
	if s.calls != 102 {
		t.Error("the least recently used index was kept")
	}
	if x := open(t, c, "large", &source{size: 5000}); x.size != 5000 {
		t.Errorf("an index beyond the budget has %d bytes", x.size)
	}
	open(t, c, "used", s)
	if s.calls != 103 {
		t.Error("the indexes beside one beyond the budget were kept")
	}
}

func TestFailedBuildIsRepeated(t *testing.T) {
	c, problem := newCache(indexcache.Options{Budget: 1000, MaxDirty: 9}), errors.New("no rows")
	for _, s := range []*source{{err: problem}, {}} {
		_, release, err := c.Open(t.Context(), "a", s)
		if !errors.Is(err, s.err) {
			t.Fatalf("%v, want %v", err, s.err)
		}
		if err == nil {
			release()
		}
	}
	c.Changed("a", 1)
	if _, _, err := c.Open(t.Context(), "a", &source{err: problem}); !errors.Is(err, problem) {
		t.Fatalf("%v, want %v", err, problem)
	}
	if x := open(t, c, "a", &source{}); x.builds != 1 || x.updates != 0 {
		t.Errorf("after a failed update the index is %+v, want a new build", x)
	}
}

// TestWaitersCanLeave: a search that waits for a build ends with its context.
func TestWaitersCanLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := newCache(indexcache.Options{Budget: 1000, MaxDirty: 9}), &source{wait: make(chan struct{})}
		built := make(chan index)
		go func() { built <- open(t, c, "a", s) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, _, err := c.Open(ctx, "a", s)
			left <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("a waiting search ends with %v", err)
		}
		close(s.wait)
		if x := <-built; x.builds != 1 || s.calls != 1 {
			t.Errorf("%+v after %d calls", x, s.calls)
		}
	})
}
