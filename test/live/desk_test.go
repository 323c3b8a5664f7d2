package live_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience bounds waits that normally take well under a second.
const patience = 2 * time.Minute

// desk has the tools, outlives the servers and counts what it was asked for.
type desk struct {
	url string
	// came gets the key of each call of slow, which ends when the gate opens.
	came chan string
	over chan struct{}

	mu    sync.Mutex
	begun map[string]int
	done  map[string]int
	gate  chan struct{}
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{came: make(chan string, 64), over: make(chan struct{}), begun: map[string]int{}, done: map[string]int{}, gate: make(chan struct{})}
	s := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	type in struct {
		Key string `json:"key"`
	}
	for _, name := range []string{"first", "second", "slow"} {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Works."}, func(ctx context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
			d.count(d.begun, name+" "+in.Key)
			if name == "slow" {
				if !d.wait(ctx, in.Key) {
					return nil, nil, context.Canceled
				}
			}
			d.count(d.done, name+" "+in.Key)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " did " + in.Key}}}, nil, nil
		})
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		close(d.over) // a call does not notice that its caller has gone
		server.CloseClientConnections()
		server.Close()
	})
	d.url = server.URL
	return d
}

func (d *desk) count(counts map[string]int, what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts[what]++
}

// wait waits at the gate; false when the caller has gone.
func (d *desk) wait(ctx context.Context, key string) bool {
	d.mu.Lock()
	gate := d.gate
	d.mu.Unlock()
	d.came <- key
	select {
	case <-gate:
		return true
	case <-d.over:
		return false
	case <-ctx.Done():
		return false
	}
}

// open lets the calls of slow end, those to come too.
func (d *desk) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.gate)
}

// shut makes the calls to come wait.
func (d *desk) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gate = make(chan struct{})
}

// await waits until slow is called with the key.
func (d *desk) await(t *testing.T, key string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case came := <-d.came:
			if came == key {
				return
			}
		case <-deadline:
			t.Fatalf("slow was not called with %s", key)
		}
	}
}

// did is how often calls ended, by tool and key.
func (d *desk) did() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	did := map[string]int{}
	for what, n := range d.done {
		did[what] = n
	}
	return did
}

// started is how often calls began.
func (d *desk) started(what string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun[what]
}
