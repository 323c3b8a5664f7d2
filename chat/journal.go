package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// journal is a run's journal: what is in the store from before, and what goes
// there with the next rows.
type journal struct {
	mu      sync.Mutex
	old     map[string][]run.Entry
	answers map[string]tool.Answer
	results map[string]tool.Result // of the client's tools, by call id
	pending []store.JournalEntry
	// writer stores what is held, and entries by themselves.
	writer *recorder
	// spent is what the agents consumed that handed the turn over.
	spent event.UsageData
	// over counts the agents that handed the turn over; routed is the last one's.
	over   int
	routed routing.State
}

// handOver is the thread of an entry that says that another agent took over:
// what came before it is not that agent's conversation.
const handOver = "\x00hand-over"

// handedOver is such an entry.
type handedOver struct {
	Agent string          `json:"agent"`
	Spent event.UsageData `json:"spent"`
	// Routing is the session's from then on, stored with it when the turn is over.
	Routing routing.State `json:"routing"`
}

// Entries are what a thread did before.
func (j *journal) Entries(thread string) []run.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.old[thread]
}

// Record keeps an entry for the next write.
func (j *journal) Record(_ context.Context, e run.Entry) error {
	stored, err := encodeEntry(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(j.pending, stored)
	// A pause within this process reads what was recorded.
	j.add(e)
	return nil
}

// Commit has everything that was recorded and yielded stored, and the entries.
func (j *journal) Commit(_ context.Context, entries ...run.Entry) error {
	var list []store.JournalEntry
	for _, e := range entries {
		stored, err := encodeEntry(e)
		if err != nil {
			return err
		}
		list = append(list, stored)
	}
	if err := j.writer.commit(list); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range entries {
		j.add(e)
	}
	return nil
}

// maxEntry bounds an entry, in bytes of JSON: the store takes a little more.
const maxEntry = 6 << 20

// encodeEntry writes an entry down. The files of a result that is too large are left
// out: a run that is resumed knows that the call was made, and what it said in words.
func encodeEntry(e run.Entry) (store.JournalEntry, error) {
	data, err := json.Marshal(e)
	if err == nil && len(data) > maxEntry && e.Result != nil && len(e.Result.Parts) > 0 {
		words := *e.Result
		words.Parts = nil
		e.Result = &words
		data, err = json.Marshal(e)
	}
	if err != nil {
		return store.JournalEntry{}, fmt.Errorf("chat: encode a journal entry: %w", err)
	}
	return store.JournalEntry{Thread: e.Thread, Data: data}, nil
}

func (j *journal) add(e run.Entry) {
	if j.old == nil {
		j.old = make(map[string][]run.Entry)
	}
	j.old[e.Thread] = append(j.old[e.Thread], e)
}

// Answer is what the user said.
func (j *journal) Answer(requestID string) (tool.Answer, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a, ok := j.answers[requestID]
	return a, ok
}

// Result is what the client's tool returned. Only the root's agent is given
// tools of the client.
func (j *journal) Result(thread, toolCallID string) (tool.Result, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.results[toolCallID]
	return r, ok && thread == j.root()
}

// thread is where the agent that answers now keeps what it does: those that a turn
// is handed over to are told apart.
func (j *journal) thread() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.root()
}

func (j *journal) root() string {
	if j.over == 0 {
		return ""
	}
	return "agent" + strconv.Itoa(j.over)
}

// take is what has to be written.
func (j *journal) take() []store.JournalEntry {
	j.mu.Lock()
	defer j.mu.Unlock()
	taken := j.pending
	j.pending = nil
	return taken
}

// putBack keeps what could not be written for the next time.
func (j *journal) putBack(entries []store.JournalEntry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(entries, j.pending...)
}

// handOver begins a conversation of another agent; spent is what the turn has
// consumed.
func (j *journal) handOver(agent string, spent event.UsageData, to routing.State) {
	data, _ := json.Marshal(handedOver{agent, spent, to})
	j.mu.Lock()
	defer j.mu.Unlock()
	j.old, j.spent, j.routed = nil, spent, to
	j.over++
	j.pending = append(j.pending, store.JournalEntry{Thread: handOver, Data: data})
}

// load reads what is stored; agent is the one that took over, "" for none.
func (j *journal) load(entries []store.JournalEntry) (agent string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, stored := range entries {
		if stored.Thread == handOver {
			var to handedOver
			if err := json.Unmarshal(stored.Data, &to); err != nil {
				return "", fmt.Errorf("chat: read the journal: %w", err)
			}
			j.old, j.spent, j.routed, agent = nil, to.Spent, to.Routing, to.Agent
			j.over++
			continue
		}
		var e run.Entry
		if err := json.Unmarshal(stored.Data, &e); err != nil {
			return "", fmt.Errorf("chat: read the journal: %w", err)
		}
		e.Thread = stored.Thread
		j.add(e)
	}
	return agent, nil
}

// decided takes over what the user said to the run's requests, and reports
// whether one is still open.
func (j *journal) decided(requests []store.RunRequest) (open bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.answers == nil {
		j.answers = make(map[string]tool.Answer)
	}
	for i := range requests {
		r := &requests[i]
		a := tool.Answer{Content: r.Content, Reason: r.Comment}
		switch r.Status {
		case store.RequestOpen:
			open = true
			continue
		case store.RequestAccepted:
			a.Action = tool.Accepted
		case store.RequestDeclined:
			a.Action = tool.Declined
		case store.RequestExpired:
			a.Action = tool.Expired
		default:
			a.Action = tool.Cancelled
		}
		j.answers[r.ID] = a
	}
	return open
}

// waitsFor reports whether a call of the last step has one of the client's results
// to wait for.
func (j *journal) waitsFor() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	waits := map[string]bool{}
	for _, e := range j.old[""] {
		switch {
		case e.Message != nil && len(e.Message.ToolCalls) > 0:
			clear(waits)
			for _, c := range e.Message.ToolCalls {
				waits[c.ID] = true
			}
		case e.Result != nil:
			delete(waits, e.ToolCallID)
		}
	}
	for id := range j.results {
		if waits[id] {
			return true
		}
	}
	return false
}

// give takes the results of the client's tools.
func (j *journal) give(results []ToolResult) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.results == nil {
		j.results = make(map[string]tool.Result)
	}
	for _, r := range results {
		j.results[r.ToolCallID] = tool.Result{Content: r.Content, Failed: r.Failed}
	}
}
