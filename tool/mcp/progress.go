package mcp

import (
	"cmp"
	"math"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// progressEvery is the least time between two events of one call.
const progressEvery = 100 * time.Millisecond

// progress emits a call's progress as events: always the newest, so that a slow reader
// never blocks the connection, which others share.
type progress struct {
	call tool.Call
	name string
	emit func(event.Event) bool

	mu      sync.Mutex
	latest  *event.ProgressData
	news    chan struct{}
	over    chan struct{}
	stopped chan struct{}
}

func newProgress(call tool.Call, name string, emit func(event.Event) bool) *progress {
	p := &progress{
		call: call, name: name, emit: emit,
		news: make(chan struct{}, 1), over: make(chan struct{}), stopped: make(chan struct{}),
	}
	go p.forward()
	return p
}

// add records a notification; it never blocks.
func (p *progress) add(n *sdk.ProgressNotificationParams) {
	step, total := steps(n.Progress, n.Total)
	data := &event.ProgressData{
		Step: step, TotalSteps: total, Label: cmp.Or(clip(n.Message), p.name), Status: "in_progress",
		ToolName: p.name, ToolCallID: p.call.ID,
	}
	p.mu.Lock()
	p.latest = data
	p.mu.Unlock()
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// end emits the last progress; no event follows.
func (p *progress) end() {
	close(p.over)
	<-p.stopped
}

func (p *progress) forward() {
	defer close(p.stopped)
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-p.over:
			p.send()
			return
		case <-p.news:
		}
		select {
		case <-p.over:
			p.send()
			return
		case <-tick.C:
		}
		if !p.send() {
			<-p.over
			return
		}
		tick.Reset(progressEvery)
	}
}

// send emits the newest progress; false if the reader has gone.
func (p *progress) send() bool {
	p.mu.Lock()
	data := p.latest
	p.latest = nil
	p.mu.Unlock()
	return data == nil || p.emit(event.New(data))
}

// steps converts a server's numbers to whole ones; fractions become per cent.
func steps(done, total float64) (step, of int) {
	whole := func(f float64) bool { return f == math.Trunc(f) }
	if total > 0 && (!whole(done) || !whole(total) || total <= 1) {
		done, total = math.Round(100*done/total), 100
	}
	limit := func(f float64) int { return int(min(max(f, 0), 1e9)) }
	if math.IsNaN(done) || math.IsNaN(total) {
		return 0, 0
	}
	return limit(done), limit(total)
}
