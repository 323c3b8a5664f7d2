package recovery

import (
	"bytes"
	"context"
	"iter"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// Said returns the events of a run from before it was resumed: the stored ones with a
// number above after. Void is set on events that a restart voided.
func Said(ctx context.Context, s live.Store, r *store.Run, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if r.LastSeq <= after {
			return
		}
		cuts, err := FindCuts(ctx, s, r.ID, r.Restarts)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		for e, err := range live.Follow(ctx, s, r.ID, live.FollowOptions{After: after}) {
			if err == nil {
				e.Void = cuts.Void(&e)
			}
			if !yield(e, err) || err != nil || e.Seq >= r.LastSeq {
				return // the rest is this process's own
			}
		}
	}
}

// Cuts are the restarts in the log of a run, each of which voids events before it.
type Cuts []cut

type cut struct {
	seq  int64
	data *event.RestartData
}

// Void returns the number of the restart that voids the event, 0 if the event is valid.
func (c Cuts) Void(e *event.Event) int64 {
	for i := range c {
		if c[i].data.Takes(e, c[i].seq) {
			return c[i].seq
		}
	}
	return 0
}

// restartLine is in every piece of a log that holds a restart.
var restartLine = []byte(`"type":"` + event.Restart.String() + `"`)

// logBlock is about how much of a log is read at once, in bytes.
const logBlock = 256 << 10

// FindCuts finds the restarts that are stored. It reads nothing of a run that was never
// interrupted.
func FindCuts(ctx context.Context, s live.Store, runID string, restarts int) (list Cuts, err error) {
	if restarts == 0 || s == nil {
		return nil, nil
	}
	for after := int64(0); ; {
		pieces, err := s.RunEvents(ctx, runID, after, logBlock)
		if err != nil || len(pieces) == 0 {
			return list, err
		}
		for _, p := range pieces {
			after = p.Last
			if !bytes.Contains(p.Data, restartLine) {
				continue
			}
			for e, err := range event.ReadLog(p.Data, 0) {
				if err != nil {
					return list, err
				}
				if d, ok := e.Data.(*event.RestartData); ok {
					list = append(list, cut{e.Seq, d})
				}
			}
		}
	}
}

// Restart returns the event that voids what an interrupted run said in steps that it
// repeats; nil if there is nothing to void. was is the status of the run before it was
// claimed; anew is true if nothing of the run is kept.
func Restart(ctx context.Context, s live.Store, r *store.Run, was, agent string, anew bool) (*event.Event, error) {
	if r.Restarts == 0 {
		return nil, nil
	}
	var known steps
	for e, err := range Said(ctx, s, r, 0) {
		if err != nil {
			return nil, err
		}
		known.add(&e)
	}
	if anew {
		for _, step := range known.runs {
			step.from = 0
		}
	}
	list := known.cut()
	if was == store.RunWaiting && known.done && len(list) == 0 {
		return nil, nil // it paused and was not interrupted
	}
	return &event.Event{
		Type: event.Restart, RunID: r.ID, Agent: agent, Seq: r.LastSeq + live.Lost + 1,
		Data: &event.RestartData{LastSeq: r.LastSeq, Runs: list},
	}, nil
}

// steps follows the log of a run and of the runs below it, to find the steps that are not
// in the journal: a step is recorded with the first event of a call that it makes.
type steps struct {
	runs  map[string]*lastStep
	order []string
	done  bool // the last event ended a process's part of the run
}

// lastStep is the last step of one run.
type lastStep struct {
	agent string
	// from is the number of the event after which the step began, said that of its last
	// event that a restart voids.
	from, said int64
	// parent and toolCallID name the run and its call that asked the run.
	parent, toolCallID string
	// over: the call has its result.
	over bool
}

func (s *steps) of(e *event.Event) *lastStep {
	r := s.runs[e.RunID]
	if r == nil {
		r = &lastStep{agent: e.Agent}
		if s.runs == nil {
			s.runs = make(map[string]*lastStep)
		}
		s.runs[e.RunID] = r
		s.order = append(s.order, e.RunID)
	}
	return r
}

// add takes in the next event.
func (s *steps) add(e *event.Event) {
	r := s.of(e)
	s.done = e.Type == event.Done
	switch d := e.Data.(type) {
	case nil:
		r.said = e.Seq
	case *event.ToolCallData:
		switch {
		case d.Status == event.ToolStarted:
			r.said = e.Seq
		case d.Ends():
			r.from = e.Seq
			s.end(e.RunID, d)
		}
	case *event.ToolArgumentsData:
		r.said = e.Seq
	case *event.ChildRunData:
		r.parent, r.toolCallID = d.ParentRunID, d.ToolCallID
	case *event.RestartData:
		for _, r := range s.runs {
			r.from = e.Seq // what came before is void already
		}
	}
}

// end marks the runs that a call asked, and those below them, as over when the call has its
// result.
func (s *steps) end(run string, d *event.ToolCallData) {
	if d.Status == event.ToolExecuting {
		return
	}
	for _, id := range s.order {
		r := s.runs[id]
		r.over = r.over || r.parent == run && r.toolCallID == d.ID || s.runs[r.parent] != nil && s.runs[r.parent].over
	}
}

// cut returns the runs that said something in a step that will be repeated.
func (s *steps) cut() (list []event.CutRun) {
	for _, id := range s.order {
		if r := s.runs[id]; !r.over && r.said > r.from {
			list = append(list, event.CutRun{RunID: id, Agent: r.agent, After: r.from})
		}
	}
	return list
}
