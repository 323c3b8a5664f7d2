package chat

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// asides are what the answering agent said beside its answer and the session keeps:
// what its model thought, and what it observed.
type asides struct {
	thoughts event.Deltas
	size     int
	observed []*event.MetadataData
}

// The bounds of one run's asides.
const (
	maxThoughts = 64 << 10 // bytes
	maxObserved = 20
)

// observationAction is the action whose payload is an observation.
const observationAction = "observation"

// add takes in an event; those of delegated agents are nothing of this session's.
func (a *asides) add(e event.Event) {
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

// asideRows are the rows of what was said beside the answer; they come before it.
func (r *recorder) asideRows() []*store.Message {
	var rows []*store.Message
	add := func(kind, text string) {
		if text == "" {
			return
		}
		row := r.row(r.o.NewID(), r.name, kind)
		row.Content, row.TokenCount = &text, llm.EstimateTokens(text)
		rows = append(rows, row)
	}
	add(store.MessageThink, r.asides.thoughts.String())
	if !r.keepsObservations() {
		return rows
	}
	for _, d := range r.asides.observed {
		add(store.MessageObservation, memory.ObservationText(d))
	}
	return rows
}

// keepsObservations reports whether the document wants them kept.
func (j *job) keepsObservations() bool {
	return j.agent == nil || j.agent.Document.ObservationMode != observationsDisabled
}

// observationsDisabled is the document's observation_mode that keeps none.
const observationsDisabled = "disabled"
