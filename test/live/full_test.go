package live_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// disk is where a database lies, and can be made full.
type disk struct {
	dir string
	// fill leaves no room for another byte, free makes room again; s is the server
	// whose database is there.
	fill, free func(t *testing.T, s *harness.Server)
}

// smallDisk is a file system of a few megabytes. Only root may mount one.
func smallDisk(t *testing.T) (disk, bool) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m,mode=0700"); err != nil {
		return disk{}, false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	filler := filepath.Join(dir, "filler")
	return disk{dir: dir,
		fill: func(t *testing.T, _ *harness.Server) {
			f, err := os.OpenFile(filler, os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for size := 1 << 20; size > 0; {
				if _, err := f.Write(make([]byte, size)); err != nil {
					size /= 2
				}
			}
		},
		free: func(t *testing.T, _ *harness.Server) {
			if err := os.Remove(filler); err != nil {
				t.Error(err)
			}
		},
	}, true
}

// cappedDisk lets no file of the server grow, which needs no rights.
func cappedDisk(t *testing.T) disk {
	limit := func(t *testing.T, s *harness.Server, most uint64) {
		if err := unix.Prlimit(s.PID(), unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: unix.RLIM_INFINITY}, nil); err != nil && !errors.Is(err, unix.ESRCH) {
			t.Error(err) // a server that was killed has no limit any more
		}
	}
	return disk{dir: t.TempDir(),
		fill: func(t *testing.T, s *harness.Server) { limit(t, s, 0) },
		free: func(t *testing.T, s *harness.Server) { limit(t, s, unix.RLIM_INFINITY) },
	}
}

// disks runs a test on each kind of disk that this machine can have.
func disks(t *testing.T, test func(t *testing.T, d disk)) {
	if d, ok := smallDisk(t); ok {
		t.Run("small", func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
	t.Run("capped", func(t *testing.T) {
		t.Parallel()
		test(t, cappedDisk(t))
	})
}

// pays is a run of four payments, one a step.
func pays(name string) (steps []step, want map[string]int) {
	want = map[string]int{}
	for i := range 4 {
		key := fmt.Sprintf("%s%d", name, i)
		steps = append(steps, do(use("pay", key)))
		want["pay "+key] = 1
	}
	return append(steps, say("end", 2, 0)), want
}

// child has an agent do the steps.
func child(steps []step) []step { return []step{do(ask("teller", steps...)), say("end", 2, 0)} }

// The disk is full from the middle of the first payment on. A call that cannot be recorded
// is not made: each payment is made once, whether the server is killed before there is
// room again or not.
func TestDiskFullInMidTurn(t *testing.T) {
	t.Parallel()
	disks(t, func(t *testing.T, d disk) {
		p := newPlace(t, "")
		p.options.DataDir = filepath.Join(d.dir, "data")
		e := p.withEffects(t)
		// A server that fills a new database may leave a write-ahead log with room for
		// the turn's writes. A stopped one leaves none.
		p.serve(t).Stop(t)
		for i, killed := range []bool{true, false} {
			for j, below := range []bool{false, true} {
				if i != j && !harness.Long(t) {
					continue // each of the two ways once
				}
				name := fmt.Sprintf("killed %t, below %t", killed, below)
				t.Run(name, func(t *testing.T) {
					s := p.serve(t)
					steps, want := pays(strings.ReplaceAll(name, " ", "") + "-")
					if below {
						steps = child(steps)
					}
					var once sync.Once
					e.on(func(string) { once.Do(func() { d.fill(t, s) }) })
					c := begin(t, s, name, events, act(steps...), "X-Agent-Schema", "payer").all()
					e.on(nil)
					if n := strings.Count(c.show(), `"code":"storage_failed"`); n != 1 {
						t.Errorf("the client was told %d times that nothing can be stored:\n%s", n, c.show())
					}
					if n := strings.Count(c.show(), `"tool_name":"pay"`); n == 0 {
						t.Error("no payment was shown: the test proves nothing")
					}
					if killed {
						s.Kill()
					}
					d.free(t, s)
					if killed {
						s = p.serve(t)
					}
					p.finish(t, s, c.run)
					for what, n := range e.made() {
						if w, ours := want[what]; ours && n != w {
							t.Errorf("%s was made %d times", what, n)
						}
						delete(want, what)
					}
					if len(want) > 0 {
						t.Errorf("never made: %v", want)
					}
					oneStory(t, s, name, c.run)
					s.Stop(t)
				})
			}
		}
		e.checkKeys(t)
	})
}

// awaitAsked resumes a run until it asks its user.
func (p *place) awaitAsked(t *testing.T, s *harness.Server, run string) asked {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		var open []asked
		s.Get(t, "/approvals?status=open", &open)
		for _, a := range open {
			if a.RunID == run {
				return a
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the run asks nothing; open are %+v", open)
		}
		var r runState
		s.Get(t, "/runs/"+run, &r)
		p.resume(t, s, r)
		<-time.After(20 * time.Millisecond)
	}
}

// resume resumes an interrupted run, unless a server was faster.
func (p *place) resume(t *testing.T, s *harness.Server, r runState) {
	t.Helper()
	if r.Status != "interrupted" {
		return
	}
	res, stop := request(t, http.MethodPost, s.URL+"/runs/"+r.ID+"/resume?protocol=events", "")
	defer stop()
	defer res.Body.Close()
}

// finish waits until a run has completed, and resumes it if no server does.
func (p *place) finish(t *testing.T, s *harness.Server, run string) {
	t.Helper()
	deadline := time.Now().Add(2 * patience)
	for {
		var r runState
		s.Get(t, "/runs/"+run, &r)
		if r.Status == "completed" {
			return
		}
		p.resume(t, s, r)
		if time.Now().After(deadline) {
			t.Fatalf("the run is %s (%s)", r.Status, r.Reason)
		}
		<-time.After(20 * time.Millisecond)
	}
}
