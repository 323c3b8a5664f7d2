package live_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// proxy connects p8 with PostgreSQL and cuts connections.
type proxy struct {
	listener net.Listener
	target   string
	all      sync.WaitGroup

	mu     sync.Mutex
	random *rand.Rand
	conns  map[net.Conn]bool
	down   bool
	cuts   int
	// left is how many messages to the database pass until the next cut.
	left int
}

// The bounds of left: a new connection takes about ten until it is of use, whatever
// the machine is busy with.
const leastPassed, mostPassed = 14, 50

// newProxy gives a proxy, and the database's URL through it.
func newProxy(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: u.Host, conns: map[net.Conn]bool{}, left: math.MaxInt, random: rand.New(rand.NewPCG(5, uint64(time.Now().UnixNano())))}
	if u.Port() == "" {
		p.target = net.JoinHostPort(u.Hostname(), "5432")
	}
	p.all.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.close()
		p.all.Wait()
	})
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", p.target)
		if err != nil || !p.add(in, out) {
			in.Close()
			continue
		}
		p.all.Go(func() { p.copy(out, in, p.passing) })
		p.all.Go(func() { p.copy(in, out, func() (before, after bool) { return false, false }) })
	}
}

// add keeps the two ends of a connection, unless the database is down.
func (p *proxy) add(in, out net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		out.Close()
		return false
	}
	p.conns[in], p.conns[out] = true, true
	return true
}

// passing counts a message to the database, and returns whether to cut all connections
// before it passes or after it has, which loses the answer to a COMMIT.
func (p *proxy) passing() (before, after bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left--; p.left > 0 {
		return false, false
	}
	p.left = leastPassed + p.random.IntN(mostPassed-leastPassed)
	before = p.random.IntN(2) == 0
	return before, !before
}

// copy passes bytes on until either end closes, and then closes both.
func (p *proxy) copy(to, from net.Conn, passing func() (before, after bool)) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			before, after := passing()
			if before {
				p.cut()
			}
			if _, e := to.Write(buf[:n]); e != nil {
				err = e
			}
			if after {
				p.cut()
			}
		}
		if err != nil {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range []net.Conn{to, from} {
		c.Close()
		delete(p.conns, c)
	}
}

// cut resets every connection. A client may have sent its COMMIT without getting the
// answer.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts++
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		c.Close()
	}
}

// pass lets so many messages pass until the next cut.
func (p *proxy) pass(messages int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = messages
}

// close takes the database away.
func (p *proxy) close() {
	p.mu.Lock()
	p.down = true
	p.mu.Unlock()
	p.cut()
}

// tryTurn has a turn and reads it to its end; nil when the request was refused.
func tryTurn(t *testing.T, s *harness.Server, session, text string) *client {
	t.Helper()
	res, stop := request(t, http.MethodPost, s.URL+"/chat/"+session+"?protocol=events",
		object("messages", []any{map[string]any{"role": "user", "content": text}}), "X-Session-Id", session, "X-Agent-Schema", "payer")
	defer stop()
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, res.Body)
		return nil
	}
	c := &client{header: res.Header, run: res.Header.Get("X-Run-Id"), lines: bufio.NewReader(res.Body)}
	return c.all()
}

// Connections to PostgreSQL break repeatedly during turns. Every call is made once and has
// its two rows once; the client notices nothing.
func TestDroppedConnectionsLoseNoRow(t *testing.T) {
	t.Parallel()
	const speakers = 4
	turns := harness.Count(t, 60, 450)
	through, address := newProxy(t, harness.Postgres(t, ""))
	p := newPlace(t, address)
	e := p.withEffects(t)
	s := p.serve(t)
	through.pass(mostPassed)

	type turn struct{ run, key string }
	var mu sync.Mutex
	var done []turn
	refused := 0
	var all sync.WaitGroup
	for speaker := range speakers {
		all.Go(func() {
			for n := 0; n < turns/speakers; n++ {
				key := fmt.Sprintf("%d-%d", speaker, n)
				text := act(do(use("pay", key+"-a")), do(use("look", key), use("put", key)), do(use("pay", key+"-b")), say("end", 2, 0))
				c := tryTurn(t, s, key, text)
				mu.Lock()
				if c == nil {
					refused++ // it read from a connection that broke, and began nothing
					n--
				} else {
					done = append(done, turn{c.run, key})
				}
				mu.Unlock()
				if c == nil {
					continue
				}
				if last := c.frames[len(c.frames)-1]; last.at("data", "reason") != "stop" {
					t.Errorf("turn %s ends with %s:\n%s", key, last.data, c.show())
				}
				if told := c.show(); strings.Contains(told, "storage_failed") {
					t.Errorf("the client of turn %s is told that it was not stored", key)
				}
			}
		})
	}
	all.Wait()
	through.pass(math.MaxInt)

	made, lost := e.made(), 0
	for _, turn := range done {
		rows := map[string]int{}
		for _, row := range s.Messages(t, turn.key) {
			var call struct {
				Name      string
				Arguments struct{ Key string }
			}
			switch row.Type {
			case "tool_call":
				if err := json.Unmarshal(row.ToolCalls, &call); err != nil {
					t.Fatal(err)
				}
				rows["tool_call "+call.Name+" "+call.Arguments.Key]++
			case "tool_response":
				rows[strings.Replace(*row.Content, "did ", "tool_response ", 1)]++
			}
		}
		for _, call := range []string{"pay " + turn.key + "-a", "look " + turn.key, "put " + turn.key, "pay " + turn.key + "-b"} {
			if made[call] != 1 {
				t.Errorf("%s was made %d times", call, made[call])
			}
			for _, kind := range []string{"tool_call ", "tool_response "} {
				if n := rows[kind+call]; n != 1 {
					lost++
					t.Errorf("%s has %d rows of kind %s", call, n, kind)
				}
			}
		}
	}
	e.checkKeys(t)
	t.Logf("%d cuts, %d turns, %d requests refused, %d rows lost or doubled", through.cuts, len(done), refused, lost)
	if through.cuts < len(done)/10 {
		t.Error("the connections broke too rarely to prove anything")
	}
}
