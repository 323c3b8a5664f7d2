package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// job is a turn with everything that it needs.
type job struct {
	*Turn
	key sessionKey
	who identity.Identity
	req Request
	// stored is the context of the store's calls: a cancelled run is recorded too.
	stored context.Context
	input  string
	// name is the agent's that answers now, modelName its model's; the Turn has those
	// with which it began.
	name, modelName string
	started         time.Time
	agent           *agent.Agent
	model           llm.Model
	tools           []tool.Tool
	chained         tool.Tool
	// chainedMissing says why chained is nil although the document names one.
	chainedMissing string
	warnings       []event.WarningData
	// absent says which declared tools the model has to do without, and why.
	absent []string
	// script answers in place of a model.
	script Script
	// stores: what is said is kept.
	stores bool
	// named: the caller chose the session, and may come back to it.
	named bool
	// auto: the client leaves it to p8 who answers.
	auto bool
	// asked is the model that the request wants, "" for none.
	asked string
	// session is as it is stored, with what is said about it now; said is that of its
	// metadata.
	session store.Session
	said    json.RawMessage
	// past is what was recalled of it, for the agent recalled; context what the model
	// sees of that.
	past     store.Recalled
	recalled *agent.Agent
	context  memory.Context
	// lead is what the model sees before it.
	lead     []llm.Message
	messages []llm.Message
	// first is the agent that the request names.
	first struct {
		name  string
		agent *agent.Agent
	}
	journal journal
	tree    *tree
	// before is the run as it was left, for one that is taken up again; restarted is the
	// number of the event that takes back what it said of the step that was cut, 0 for
	// none.
	before    *store.Run
	restarted int64
	// account counts what the run holds in memory.
	account live.Account
}

// Start begins a turn and returns as soon as the user's message is stored. The
// run ends by itself, whatever becomes of ctx, which bounds the preparation
// only. A failure here is the request's or the store's, and [Describe] words
// it; a failure of the model is an event of the turn.
//
// A request with Answers or Results, or one that steers, gives what it brings to
// a run that is there already; the Turn is that run's.
func (s *Service) Start(ctx context.Context, req Request) (*Turn, error) {
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	if len(req.Answers) > 0 {
		return s.answerAll(ctx, req)
	}
	if t, err := s.repeated(ctx, req); t != nil || err != nil {
		return t, err
	}
	if t, err := s.continued(ctx, req); t != nil || err != nil {
		return t, err
	}
	if req.Busy == BusySteer {
		if t, err := s.steer(ctx, req); t != nil || err != nil {
			return t, err
		}
	}
	j, err := s.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	t, err := s.launch(ctx, j, s.prepare)
	if errors.Is(err, store.ErrKeyUsed) || errors.Is(err, ErrBusy) && req.Key != "" {
		// The same request was here a moment ago, and may not have been stored yet.
		if err := s.slots.begun(ctx, j.key, req.Key); err != nil {
			return nil, err
		}
		if t, again := s.repeated(ctx, req); t != nil || again != nil {
			return t, again
		}
	}
	return t, err
}

// launch reserves the session, prepares the run and starts it.
func (s *Service) launch(ctx context.Context, j *job, prepare func(context.Context, *job) error) (*Turn, error) {
	ctx = identity.With(ctx, j.who)
	detached := context.WithoutCancel(ctx)
	runCtx, cancel := context.WithCancelCause(detached)
	j.cancel = cancel
	if err := s.slots.take(ctx, j.key, j.Turn, j.req.Busy); err != nil {
		cancel(err)
		return nil, err
	}
	if err := prepare(ctx, j); err != nil {
		s.slots.release(j.key)
		s.slots.turns.Done()
		cancel(err)
		return nil, err
	}
	j.stored, j.stores = identity.With(detached, j.who), s.o.Store != nil
	if j.stores {
		j.runs, j.Turn.who, j.Turn.service = s.o.Store, j.who, s
	}
	s.budget.Open(&j.account, cancel, errMemory)
	j.log = s.openLog(runCtx, j)
	j.Turn.began = s.o.Now()
	if j.before != nil {
		j.Turn.after = j.before.LastSeq
	}
	s.slots.ready(j.key)
	go s.run(runCtx, j)
	return j.Turn, nil
}

// openLog is the log of a run that begins, or goes on; ctx is the run's.
func (s *Service) openLog(ctx context.Context, j *job) *live.Log {
	o := live.Options{
		RunID: j.RunID, Owner: s.o.Owner, MaxEvents: s.o.MaxEvents, MaxBytes: s.o.MaxBytes, Account: &j.account, Logger: s.o.Logger,
		Patience: s.o.Patience, Run: ctx,
		Stop: func(err error) {
			if errors.Is(err, store.ErrNotOwner) {
				j.cancel(errLost)
			} else {
				j.cancel(errCancelled)
			}
		},
	}
	if s.o.Store != nil {
		o.Slots = s.storing
		o.Store = s.o.Store // the log itself says when it cannot be stored
	}
	if j.before != nil {
		o.After = max(j.before.LastSeq, j.restarted)
	}
	return live.Open(j.stored, o)
}

// resolve finds what the request names, without touching the session.
func (s *Service) resolve(ctx context.Context, req Request) (*job, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	j := &job{Turn: new(Turn), req: req, started: s.o.Now()}
	if j.named = who.SessionID != ""; !j.named {
		who.SessionID = s.o.NewID()
	} else if err := identity.ValidateID("session_id", who.SessionID); err != nil {
		return nil, err
	}
	if j.input, err = input(req); err != nil {
		return nil, err
	}
	if err := checkParts(req); err != nil {
		return nil, err
	}
	j.RunID, j.MessageID, j.InReplyTo = s.o.NewID(), s.o.NewID(), s.o.NewID()
	j.SessionID, j.Protocol, j.Turn.key = who.SessionID, req.Protocol, req.Key
	j.key = sessionKey{who.TenantID, who.UserID, who.SessionID}
	j.who, j.asked = who, cmp.Or(req.Model, who.DefaultModel)
	return j, nil
}

// prepare reads the session, finds agent, model and tools, and stores what the
// run begins with.
func (s *Service) prepare(ctx context.Context, j *job) error {
	j.agent = s.firstAgent(ctx, j)
	if err := s.readSession(ctx, j, 0); err != nil {
		return err
	}
	if j.req.Regenerate && j.isNew() {
		if err := j.firstAgain(); err != nil {
			return err
		}
	}
	if err := s.equip(ctx, j, s.routed(ctx, j)); err != nil {
		return err
	}
	j.Agent, j.Model = j.name, j.modelName
	return s.begin(ctx, j)
}

// begin assembles the payload and stores the user's message. The history is read
// first: the message must not be in it.
func (s *Service) begin(ctx context.Context, j *job) (err error) {
	var start store.RunStart
	if s.o.Store == nil {
		history, _, err := s.brought(j)
		j.messages = s.payload(j, history)
		return err
	}
	again := !sameHistory(j.recalled, j.agent)
	if len(j.past.Runs) > 0 {
		if err := s.settle(ctx, j); err != nil {
			return err
		}
		again = true
	}
	var history []llm.Message
	switch {
	case j.isNew() && len(j.req.History) > 0:
		var rows []store.Message
		if history, rows, err = s.brought(j); err != nil {
			return err
		}
		for i := range rows {
			start.Messages = append(start.Messages, &rows[i])
		}
	case j.req.Regenerate:
		if start.DropAfter, err = s.again(ctx, j); err != nil {
			return err
		}
		again = true
		fallthrough
	case !j.isNew():
		if again {
			if err = s.recall(ctx, j, start.DropAfter); err != nil {
				return err
			}
		}
		fallthrough
	default:
		if history, err = s.history(ctx, j); err != nil {
			return err
		}
	}
	j.messages = s.payload(j, history)
	if !j.req.Regenerate && (j.input != "" || len(j.req.Parts) > 0) {
		row, err := j.inputRow()
		if err != nil {
			return err
		}
		start.Messages = append(start.Messages, row)
	}
	if len(start.Messages) == 0 && j.isNew() {
		// A client that keeps its own history brings the results of its tools.
		start.Messages = j.resultRows()
	}
	return s.beginRun(ctx, j, start)
}
