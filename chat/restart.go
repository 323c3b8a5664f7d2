package chat

import (
	"bytes"
	"context"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// cuts are the restarts in the log of a run: what they take back is void.
type cuts []cut

type cut struct {
	seq int64
	*event.RestartData
}

// void is the number of the restart that takes the event back, 0 for none.
func (c cuts) void(e *event.Event) int64 {
	for i := range c {
		if c[i].Takes(e, c[i].seq) {
			return c[i].seq
		}
	}
	return 0
}

// restartLine is in every piece of a log that holds a restart.
var restartLine = []byte(`"type":"` + event.Restart.String() + `"`)

// logBlock is about how much of a log is read at once, in bytes.
const logBlock = 256 << 10

// cuts finds the restarts that are stored; none for a run that was never interrupted,
// without reading its log.
func (t *Turn) cuts(ctx context.Context) (list cuts, err error) {
	if t.restarts == 0 || t.runs == nil {
		return nil, nil
	}
	ctx = identity.With(ctx, t.who)
	for after := int64(0); ; {
		pieces, err := t.runs.RunEvents(ctx, t.RunID, after, logBlock)
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

// steps follows the log of a run and of those below it, to find the steps that are not
// in the journal: a step is recorded with the first event of a call that it makes.
type steps struct {
	runs  map[string]*lastStep
	order []string
	done  bool // the last event ended a process's part of the run
}

// lastStep is the last step of one run.
type lastStep struct {
	agent string
	// from is the number of the event after which the step began, said that of its
	// last event that a restart takes back.
	from, said int64
	// parent and call are those that asked the run; over: the call has its result.
	parent, call string
	over         bool
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
	case *event.ChildRunData:
		r.parent, r.call = d.ParentRunID, d.ToolCallID
	case *event.RestartData:
		for _, r := range s.runs {
			r.from = e.Seq // what was void by then is known to be
		}
	}
}

// end closes the runs that a call asked, when it has its result, and those below them.
func (s *steps) end(run string, d *event.ToolCallData) {
	if d.Status == event.ToolExecuting {
		return
	}
	for _, id := range s.order {
		r := s.runs[id]
		r.over = r.over || r.parent == run && r.call == d.ID || s.runs[r.parent] != nil && s.runs[r.parent].over
	}
}

// cut are the runs that said something of a step that will be made again.
func (s *steps) cut() (list []event.CutRun) {
	for _, id := range s.order {
		if r := s.runs[id]; !r.over && r.said > r.from {
			list = append(list, event.CutRun{RunID: id, Agent: r.agent, After: r.from})
		}
	}
	return list
}

// restart takes back what the run said of steps that it makes again, if it was
// interrupted: the event is stored before anybody reads on, so that readers who come
// later never see that text.
func (s *Service) restart(ctx context.Context, j *job, was string) error {
	r := j.before
	j.restarts = r.Restarts
	if r.Restarts == 0 {
		return nil
	}
	past := s.turnOf(j.who, r)
	var known steps
	if r.LastSeq > 0 {
		for e, err := range past.raw(ctx, 0, nil) {
			if err != nil {
				return err
			}
			known.add(&e)
			if e.Seq >= r.LastSeq {
				break
			}
		}
	}
	if j.script != nil { // it begins anew
		for _, step := range known.runs {
			step.from = 0
		}
	}
	list := known.cut()
	if was == store.RunWaiting && known.done && len(list) == 0 {
		return nil // it paused in order
	}
	seq := r.LastSeq + live.Lost + 1
	e := event.Event{Type: event.Restart, RunID: j.RunID, Agent: j.name, Seq: seq, Data: &event.RestartData{LastSeq: r.LastSeq, Runs: list}}
	_, err := s.o.Store.WriteRun(ctx, store.RunWrite{
		RunID: j.RunID, Owner: s.o.Owner, Events: []store.RunEvents{{First: seq, Last: seq, Data: event.AppendLog(nil, &e)}},
	})
	j.restarted = seq
	return err
}
