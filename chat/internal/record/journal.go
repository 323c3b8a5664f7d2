package record

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// Journal is a run's journal: the stored entries, and the entries that the next write
// stores. It implements run.Journal.
type Journal struct {
	mu      sync.Mutex
	old     map[string][]run.Entry
	answers map[string]tool.Answer
	results map[string]tool.Result // of the client's tools, by call id
	pending []store.JournalEntry
	// commit stores what the writer holds, and the entries.
	commit func([]store.JournalEntry) error
	// spent is the usage of the agents that handed the turn over, parts each one's share,
	// handOvers their number, routed the routing after the last hand-over.
	spent     event.UsageData
	parts     []run.Spent
	handOvers int
	routed    routing.State
}

// handOverThread marks the entry that another agent took over: what came before it is
// not that agent's conversation. The store would change a NUL.
const handOverThread = "\uFFFDhand-over"

// handedOver is the data of that entry.
type handedOver struct {
	Agent string          `json:"agent"`
	Spent event.UsageData `json:"spent"`
	Parts []run.Spent     `json:"parts,omitempty"`
	// Routing is the session's from then on, stored with it when the turn is over.
	Routing routing.State `json:"routing"`
}

// Entries returns the recorded entries of a thread.
func (j *Journal) Entries(thread string) []run.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.old[thread]
}

// Record keeps an entry for the next write.
func (j *Journal) Record(_ context.Context, e run.Entry) error {
	stored, err := encodeEntry(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(j.pending, stored)
	// A run that pauses and goes on in this process reads it.
	j.add(e)
	return nil
}

// Commit stores everything that was recorded and yielded so far, and the entries.
func (j *Journal) Commit(_ context.Context, entries ...run.Entry) error {
	var list []store.JournalEntry
	for _, e := range entries {
		stored, err := encodeEntry(e)
		if err != nil {
			return err
		}
		list = append(list, stored)
	}
	if err := j.commit(list); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range entries {
		j.add(e)
	}
	return nil
}

// maxEntry bounds an entry, in bytes of JSON. The store's own bound is a little higher.
const maxEntry = 6 << 20

// encodeEntry encodes an entry. It leaves out the files of a result that is too large: a
// resumed run then still knows that the call was made, and its text.
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

func (j *Journal) add(e run.Entry) {
	if j.old == nil {
		j.old = make(map[string][]run.Entry)
	}
	j.old[e.Thread] = append(j.old[e.Thread], e)
}

// Answer returns the user's answer to a request.
func (j *Journal) Answer(requestID string) (tool.Answer, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a, ok := j.answers[requestID]
	return a, ok
}

// Result returns the result of a client's tool. Only the root agent has such tools.
func (j *Journal) Result(thread, toolCallID string) (tool.Result, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.results[toolCallID]
	return r, ok && thread == j.root()
}

// Thread returns the thread of the agent that answers now. Each agent that takes the turn over
// has a thread of its own.
func (j *Journal) Thread() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.root()
}

func (j *Journal) root() string {
	if j.handOvers == 0 {
		return ""
	}
	return "agent" + strconv.Itoa(j.handOvers)
}

// take removes and returns the entries to write.
func (j *Journal) take() []store.JournalEntry {
	j.mu.Lock()
	defer j.mu.Unlock()
	taken := j.pending
	j.pending = nil
	return taken
}

// putBack keeps entries whose write failed, for the next write.
func (j *Journal) putBack(entries []store.JournalEntry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(entries, j.pending...)
}

// HandOver begins the conversation of another agent; spent is what the turn has
// consumed, parts each agent's share.
func (j *Journal) HandOver(agent string, spent event.UsageData, parts []run.Spent, to routing.State) {
	data, _ := json.Marshal(handedOver{agent, spent, parts, to})
	j.mu.Lock()
	defer j.mu.Unlock()
	j.old, j.spent, j.parts, j.routed = nil, spent, parts, to
	j.handOvers++
	j.pending = append(j.pending, store.JournalEntry{Thread: handOverThread, Data: data})
}

// Load reads the stored entries; agent is the agent that took over last, "" if the turn was
// never handed over.
func (j *Journal) Load(entries []store.JournalEntry) (agent string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, stored := range entries {
		if stored.Thread == handOverThread {
			var to handedOver
			if err := json.Unmarshal(stored.Data, &to); err != nil {
				return "", fmt.Errorf("chat: read the journal: %w", err)
			}
			j.old, j.spent, j.parts, j.routed, agent = nil, to.Spent, to.Parts, to.Routing, to.Agent
			j.handOvers++
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

// Decide adds the run's requests with their answers, and reports whether a request is still
// open.
func (j *Journal) Decide(requests []store.RunRequest) (open bool) {
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

// UsesResults reports whether a call of the last step waits for one of the client's
// results. It is true if the client gave no results.
func (j *Journal) UsesResults() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.results) == 0 {
		return true
	}
	waits := map[string]bool{}
	for _, e := range j.old[j.root()] {
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

// Give adds the result of a client's tool.
func (j *Journal) Give(toolCallID string, r tool.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.results == nil {
		j.results = make(map[string]tool.Result)
	}
	j.results[toolCallID] = r
}

// HandOvers returns how many agents have handed the turn over, and the routing after the
// last one.
func (j *Journal) HandOvers() (int, routing.State) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.handOvers, j.routed
}

// Spent returns the usage of the agents that handed the turn over, and each one's share.
func (j *Journal) Spent() (event.UsageData, []run.Spent) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.spent, slices.Clone(j.parts)
}
