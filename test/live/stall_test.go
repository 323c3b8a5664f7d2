package live_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// crowd is how many read, and how many do not; first, all of them do.
const crowd = 100

// pieces is how many pieces each answer has, slow the time between two.
const (
	pieces = 50
	slow   = 100 * time.Millisecond
)

// Stalled readers do not delay the others, which get all pieces meanwhile. Runs without a
// reader end like all others.
func TestStalledReaders(t *testing.T) {
	p := newPlace(t, "")
	s := p.serve(t)
	text := act(step{Text: "word", Pieces: pieces, Pace: int(slow.Milliseconds()), Size: 4 << 10})
	readAll(t, s, "alone", text, 2*crowd)
	before, _ := s.Memory(t)
	stalled := make([]net.Conn, crowd)
	for i := range stalled {
		stalled[i] = stall(t, s, fmt.Sprintf("stalled-%d", i), text)
	}
	readAll(t, s, "beside", text, crowd)
	during, _ := s.Memory(t)
	if n := unread(t, s); n < crowd {
		t.Errorf("%d connections have something that nobody reads; the test proves nothing", n)
	}
	t.Logf("memory %d MB, then %d MB beside %d stalled readers", before, during, crowd)
	// Unread events are in the database; a run holds only a window of them in memory. The
	// race detector multiplies the server's memory.
	if grown := during - before; grown > max(crowd, before/2) {
		t.Errorf("the server's memory grew by %d MB", grown)
	}
	for deadline := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		var runs []runState
		s.Get(t, "/runs?status=completed&limit=500", &runs)
		if len(runs) == 4*crowd {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d runs ended", len(runs), 4*crowd)
		}
	}
	for _, c := range stalled {
		c.Close()
	}
}

// readAll lets so many readers read an answer to its end.
func readAll(t *testing.T, s *harness.Server, name, text string, readers int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() {
			c, got := begin(t, s, fmt.Sprintf("%s-%d", name, i), events, text), 0
			for c.next() {
				if c.frames[len(c.frames)-1].kind() == "text" {
					got++
				}
			}
			if got < pieces {
				t.Errorf("reader %d got %d of %d pieces", i, got, pieces)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// stall asks for a run on a connection that has a small buffer and is never read.
func stall(t *testing.T, s *harness.Server, session, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	body := object("messages", []any{map[string]any{"role": "user", "content": text}})
	req, err := http.NewRequest(http.MethodPost, s.URL+"/chat/"+session, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Agent-Schema", "root")
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
	return conn
}

// unread is how many of the server's connections have something to send that the
// client has no room for.
func unread(t *testing.T, s *harness.Server) (n int) {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	local := fmt.Sprintf(":%04X", number)
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) > 4 && strings.HasSuffix(fields[1], local) && !strings.HasPrefix(fields[4], "00000000:") {
			n++
		}
	}
	return n
}
