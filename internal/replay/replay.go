// Package replay records what a conversation exchanges with the outside (models, MCP
// servers, tools of the open world) and plays it back without a network.
//
// A [Tape] wraps the models and the tools of a process:
//
//	tape := replay.Record(replay.Options{Clean: clean})   or   replay.Play(cassette, replay.Options{Clean: clean})
//	providers[name] = tape.Provider(name, construct)      models
//	box.Servers = tape.Servers(servers)                   MCP servers
//	t = tape.Tool("", t)                                  a single tool
//
// A [Cassette] has what was recorded. Requests are compared by their meaning, not by their
// bytes: the prompt, the messages, the tools, the settings, with ids and times that differ
// from run to run replaced by names. Requests and calls may come in any order, so parallel
// calls and delegated agents need no luck.
//
// A request that is not like any recorded one is a [Drift]: it gets the answer of the most
// similar request that is left, and the drift says what is different.
package replay

import (
	"context"
	"sync"
	"time"

	"github.com/p8-org/p8/llm"
)

// Options configure a Tape.
type Options struct {
	// Clean removes secrets from a text. Everything passes it before it is kept or
	// compared. nil keeps everything.
	Clean func(string) string
}

// Tape records or plays. It is safe for concurrent use.
type Tape struct {
	clean   func(string) string
	playing bool

	mu       sync.Mutex
	cassette *Cassette
	// offered are the names of the tools that requests had, called those that were called.
	offered map[string]bool
	// used are the exchanges and calls that were played.
	used struct{ exchanges, calls map[int]bool }
	// drifts are what was asked and is not on the cassette.
	drifts []Drift
	// models are the recorded models by the name that was asked for.
	models map[string]Model
}

// Record returns a tape that records a new cassette.
func Record(o Options) *Tape { return newTape(&Cassette{}, o) }

// Play returns a tape that plays a cassette. The tape keeps and changes it (see Accept).
func Play(c *Cassette, o Options) *Tape {
	t := newTape(c, o)
	t.playing = true
	for _, m := range c.Models {
		t.models[m.Asked] = m
	}
	return t
}

func newTape(c *Cassette, o Options) *Tape {
	if o.Clean == nil {
		o.Clean = func(s string) string { return s }
	}
	t := &Tape{clean: o.Clean, cassette: c, offered: map[string]bool{}, models: map[string]Model{}}
	t.used.exchanges, t.used.calls = map[int]bool{}, map[int]bool{}
	return t
}

// Choice returns the default model: while recording, the one of choose, and its name is
// kept; while playing, the recorded one. A nil Tape returns that of choose.
func (t *Tape) Choice(choose func() llm.Choice) llm.Choice {
	if t == nil {
		return choose()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.playing {
		return llm.Choice{Model: t.cassette.Model}
	}
	c := choose()
	t.cassette.Model = c.Model
	return c
}

// Took keeps how long a turn took while it was recorded, and returns the recorded time
// while it is played.
func (t *Tape) Took(turn int, took time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.playing {
		if turn < len(t.cassette.TurnsMS) {
			return time.Duration(t.cassette.TurnsMS[turn]) * time.Millisecond
		}
		return 0
	}
	for len(t.cassette.TurnsMS) <= turn {
		t.cassette.TurnsMS = append(t.cassette.TurnsMS, 0)
	}
	t.cassette.TurnsMS[turn] = took.Milliseconds()
	return took
}

// Cassette returns what was recorded so far, or what is played.
func (t *Tape) Cassette() *Cassette {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := *t.cassette
	if !t.playing {
		c.Servers = t.needed()
	}
	return &c
}

// insideKey marks the context of a recorded call: what the call itself asks of models is a
// part of its result.
type insideKey struct{}

func inside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }
