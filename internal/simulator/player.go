package simulator

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/event"
)

// stage is the state that all agents of one run share.
type stage struct {
	ctx   context.Context
	yield func(event.Event, error) bool
	o     Options
	delay time.Duration
	newID func() string
	seq   int64
	// over is true once the reader has gone: nothing more is emitted.
	over bool
	// words counts the words of the root agent.
	words int
}

// player plays one agent of a run.
type player struct {
	*stage
	// agent is its path, run its run id.
	agent, run string
}

func newPlayer(ctx context.Context, yield func(event.Event, error) bool, agentName string, o Options) *player {
	s := &stage{ctx: ctx, yield: yield, o: o, delay: cmp.Or(o.Delay, defaultDelay), newID: o.NewID}
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	switch {
	case s.newID != nil:
	case o.Seed != "":
		s.newID = seeded(o.Seed)
	default:
		s.newID = uuid.NewString
	}
	return &player{stage: s, agent: agentName, run: o.RunID}
}

// seeded returns the same ids in the same order for the same seed.
func seeded(seed string) func() string {
	n := 0
	return func() string {
		n++
		return uuid.NewSHA1(uuid.NameSpaceOID, []byte(seed+"/"+strconv.Itoa(n))).String()
	}
}

// shortID returns a prefix and eight characters.
func (s *stage) shortID(prefix string) string {
	id := strings.ReplaceAll(s.newID(), "-", "")
	return prefix + id[:min(len(id), 8)]
}

// emit yields one event.
func (p *player) emit(e event.Event) {
	if p.over {
		return
	}
	if err := p.ctx.Err(); err != nil {
		p.over = true
		p.yield(event.Event{}, err)
		return
	}
	p.seq++
	e.Agent, e.RunID, e.Seq = p.agent, p.run, p.seq
	p.over = !p.yield(e, nil)
}

// wait waits for some delays.
func (p *player) wait(delays float64) {
	d := time.Duration(float64(p.delay) * delays)
	if p.over || d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ctx.Done():
	}
}

// emitData emits a typed event.
func (p *player) emitData(d event.Data) { p.emit(event.New(d)) }

// text emits a piece of the answer, then waits.
func (p *player) text(piece string) {
	p.emit(event.NewText(piece))
	p.wait(1)
}

// groups emits a text in groups of words, each slightly longer than length.
func (p *player) groups(text string, length int) {
	var group strings.Builder
	for word := range strings.SplitAfterSeq(text, " ") {
		group.WriteString(word)
		p.stage.words++
		if group.Len() > length {
			p.text(group.String())
			group.Reset()
		}
	}
	if group.Len() > 0 {
		p.text(group.String())
	}
}

// pieces emits a text in pieces of n characters.
func (p *player) pieces(text string, length int) {
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(length, len(runes))
		p.text(string(runes[:n]))
		runes = runes[n:]
	}
}

// reasoning emits one thought.
func (p *player) reasoning(thought string) {
	p.emit(event.NewReasoning(thought))
	p.wait(1)
}

// The states of a progress.
const (
	inProgress = "in_progress"
	completed  = "completed"
	failed     = "failed"
)

// progress emits one of four steps.
func (p *player) progress(step int, label, status string) {
	if p.o.NoProgress {
		return
	}
	p.emitData(&event.ProgressData{Step: step, TotalSteps: steps, Label: label, Status: status})
	p.wait(1)
}

const steps = 4

// call plays one tool call from its start to its result.
func (p *player) call(name string, arguments, result any) {
	id := p.begin(name, arguments)
	p.wait(3)
	p.complete(name, id, arguments, result)
}

// begin starts a call and returns its id.
func (p *player) begin(name string, arguments any) (id string) {
	id = p.shortID("call_")
	args := raw(arguments)
	p.emitData(&event.ToolCallData{Name: name, ID: id, Status: event.ToolStarted, Arguments: args})
	p.emitData(&event.ToolCallData{Name: name, ID: id, Status: event.ToolExecuting, Arguments: args})
	return id
}

// complete ends a call.
func (p *player) complete(name, id string, arguments, result any) {
	p.emitData(&event.ToolCallData{
		Name: name, ID: id, Status: event.ToolCompleted, Arguments: raw(arguments), Result: raw(result),
		Content: content(result),
	})
	p.wait(1)
}

// done ends the run.
func (p *player) done(reason string) { p.emitData(&event.DoneData{Reason: reason}) }

// object is a JSON object.
type object = map[string]any

// raw encodes a value of this package as JSON; each can be encoded.
func raw(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}

// content returns a result as a model would see it.
func content(result any) string {
	if s, ok := result.(string); ok {
		return s
	}
	return string(raw(result))
}
