package run_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// diary is a journal that forgets what no event of a call followed, as a database
// does that stores the two together.
type diary struct {
	mu      sync.Mutex
	stored  map[string][]run.Entry
	pending []run.Entry
	answers map[string]tool.Answer
	results map[string]tool.Result
	commits int
}

func newDiary() *diary {
	return &diary{stored: map[string][]run.Entry{}, answers: map[string]tool.Answer{}, results: map[string]tool.Result{}}
}

func (d *diary) Entries(thread string) []run.Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.stored[thread])
}

func (d *diary) Record(_ context.Context, e run.Entry) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var back run.Entry
	if err := json.Unmarshal(raw, &back); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending = append(d.pending, back)
	return nil
}

// Commit keeps the entries at once; what was recorded has been kept with its event.
func (d *diary) Commit(ctx context.Context, entries ...run.Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits++
	for _, e := range entries {
		d.stored[e.Thread] = append(d.stored[e.Thread], e)
	}
	return nil
}

// store keeps what belongs to an event.
func (d *diary) store(e event.Event) {
	switch e.Data.(type) {
	case *event.ToolCallData, *event.ActionRequestData, *event.ChildRunData, *event.DoneData:
	default:
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.pending {
		d.stored[p.Thread] = append(d.stored[p.Thread], p)
	}
	d.pending = nil
}

// crash forgets what was not stored.
func (d *diary) crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending = nil
}

func (d *diary) Answer(id string) (tool.Answer, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, ok := d.answers[id]
	return a, ok
}

func (d *diary) Result(thread, toolCallID string) (tool.Result, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.results[thread+"/"+toolCallID]
	return r, ok
}
