package record

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// Asides are the model's thoughts and the agent's observations, which the session keeps
// beside the answer.
type Asides struct {
	thoughts event.Deltas
	size     int
	observed []*event.MetadataData
}

// The bounds of one run's Asides.
const (
	maxThoughts = 64 << 10 // bytes
	maxObserved = 20
)

// observationAction is the action whose payload is an observation.
const observationAction = "observation"

// Add follows an event. It ignores thoughts and observations of delegated agents.
func (a *Asides) Add(e event.Event) {
	switch d := e.Data.(type) {
	case nil:
		if e.Type != event.Reasoning || strings.Contains(e.Agent, "/") || a.size >= maxThoughts {
			return
		}
		text := e.Text
		if left := maxThoughts - a.size; len(text) > left {
			for left > 0 && !utf8.RuneStart(text[left]) {
				left--
			}
			text = text[:left]
			a.size = maxThoughts
		}
		a.size += len(text)
		a.thoughts.Add(text)
	case *event.ActionData:
		if d.ActionType != observationAction || strings.Contains(e.Agent, "/") || len(a.observed) == maxObserved {
			return
		}
		m := new(event.MetadataData)
		if json.Unmarshal(d.Payload, m) == nil {
			a.observed = append(a.observed, m)
		}
	}
}

// Thought reports whether the model thought in the open.
func (a *Asides) Thought() bool { return a.size > 0 }

// Observed returns what the agent observed.
func (a *Asides) Observed() []*event.MetadataData { return a.observed }

// Rows returns the rows of the thoughts and observations; they precede the answer's row.
func (a *Asides) Rows(r *Rows, observations bool) []*store.Message {
	var rows []*store.Message
	add := func(kind, text string) {
		if text == "" {
			return
		}
		row := r.New(r.NewID(), r.Agent, kind)
		row.Content, row.TokenCount = &text, llm.EstimateTokens(text)
		rows = append(rows, row)
	}
	add(store.MessageThink, a.thoughts.String())
	if !observations {
		return rows
	}
	for _, d := range a.observed {
		add(store.MessageObservation, memory.ObservationText(d))
	}
	return rows
}
