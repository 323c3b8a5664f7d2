// Package crash kills the server repeatedly at random moments under load, and checks
// that each row that a client was told of exists unchanged after the restart, and that
// every session continues.
package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

var (
	kills = flag.Int("kills", 0, "how often the server is killed; 0 is 15, and 100 in the long form")
	seed  = flag.Uint64("seed", 0, "seed of the moments; 0 takes a new one and prints it")
)

// clients is how many sessions speak at once.
const clients = 8

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func TestKilledServerKeepsItsWord(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (repeat with: go test ./test/crash -seed=%d)", *seed, *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	kills := *kills
	if kills == 0 {
		kills = harness.Count(t, 15, 100)
	}
	agents, err := filepath.Abs(filepath.Join("testdata", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	options := harness.Options{
		DataDir: harness.Disk(t),
		Env:     append(newProvider(t).Env(), "P8_SCHEMA_DIR="+agents),
	}

	rows, unfinished := map[string]int{}, 0
	for round := range kills {
		book := &notebook{sessions: map[string]bool{}}
		server := harness.Serve(t, options)
		cut := load(t, server, book, round, time.Duration(20+random.IntN(400))*time.Millisecond)
		unfinished += cut
		for _, row := range book.rows {
			rows[row.kind]++
		}

		server = harness.Serve(t, options)
		book.check(t, server)
		goOn(t, server, book)
		if code := server.Stop(t); code != 0 {
			t.Errorf("round %d: the server ended with %d after SIGTERM", round, code)
		}
		if t.Failed() {
			t.Fatalf("round %d of %d failed", round+1, kills)
		}
	}
	t.Logf("%d kills, %d turns cut off, announced rows: %v", kills, unfinished, rows)
	for _, kind := range []string{"user", "tool_call", "tool_response", "assistant"} {
		if rows[kind] == 0 {
			t.Errorf("no %s row was announced: the test proves nothing about them", kind)
		}
	}
	if unfinished == 0 {
		t.Error("no turn was cut off: the kills came too late to prove anything")
	}
}

// load lets the clients talk until the server is killed after the given time,
// and returns how many turns were cut off.
func load(t *testing.T, server *harness.Server, book *notebook, round int, after time.Duration) int {
	t.Helper()
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		cut     int
		stopped = make(chan struct{})
	)
	for client := range clients {
		all.Go(func() {
			session := fmt.Sprintf("round %d, client %d", round, client)
			for turn := 0; ; turn++ {
				if !book.ask(t, server.URL, session, fmt.Sprintf("r%dc%dt%d", round, client, turn)) {
					break
				}
				select {
				case <-stopped:
					return
				default:
				}
			}
			mu.Lock()
			defer mu.Unlock()
			cut++
		})
	}
	<-time.After(after)
	server.Kill()
	close(stopped)
	all.Wait()
	return cut
}

// goOn has the next turn in every session that was open.
func goOn(t *testing.T, server *harness.Server, book *notebook) {
	t.Helper()
	var all sync.WaitGroup
	next := &notebook{sessions: map[string]bool{}}
	for session := range book.sessions {
		all.Go(func() {
			if !next.ask(t, server.URL, session, "after the crash") {
				t.Errorf("session %s does not go on", session)
			}
		})
	}
	all.Wait()
	next.check(t, server)
}
