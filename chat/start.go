package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"p8/agent"
	"p8/event"
	"p8/identity"
	"p8/live"
	"p8/llm"
	"p8/memory"
	"p8/store"
	"p8/tool"
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
	// asked is the model that the request wants, "" for none.
	asked string
	// session is as it is stored, with what the request says about it.
	session  store.Session
	user     store.User
	messages []llm.Message
	journal  journal
	tree     *tree
	// before is the run as it was left, for one that is taken up again.
	before *store.Run
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
		j.runs, j.Turn.who = s.o.Store, j.who
	}
	j.log = s.openLog(j)
	s.slots.ready(j.key)
	go s.run(runCtx, j)
	return j.Turn, nil
}

// openLog is the log of a run that begins, or goes on.
func (s *Service) openLog(j *job) *live.Log {
	o := live.Options{
		RunID: j.RunID, Owner: s.o.Owner, MaxEvents: s.o.MaxEvents, MaxBytes: s.o.MaxBytes, Logger: s.o.Logger,
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
		o.After = j.before.LastSeq
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
	if err := s.readSession(ctx, j); err != nil {
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

// equip gives the turn its agent, with model and tools.
func (s *Service) equip(ctx context.Context, j *job, name string) (err error) {
	if j.agent, err = s.findAgent(ctx, j.req, name); err != nil {
		return err
	}
	if j.script = s.o.Scripts[j.agent.Name]; j.req.Document != nil {
		j.script = nil
	}
	if j.script != nil {
		j.name, j.modelName = j.agent.Name, j.agent.Name
		j.who = j.who.Child(j.name, j.asked)
		return nil
	}
	j.agent = j.agent.WithOutput(j.req.ResponseFormat)
	j.warnings, j.absent, j.chainedMissing = nil, nil, ""
	if err := s.findModel(j, j.asked); err != nil {
		return err
	}
	s.findTools(ctx, j)
	if err := addClientTools(j); err != nil {
		return err
	}
	j.name = j.agent.Name
	j.who = j.who.Child(j.name, j.asked)
	return nil
}

// input is the user's message.
func input(req Request) (string, error) {
	text := req.Input
	if req.Regenerate || len(req.Results) > 0 && text == "" && len(req.Parts) == 0 {
		return "", nil // it is stored, or comes with the history
	}
	if req.Query != nil {
		if strings.TrimSpace(req.Query.Query) == "" {
			return "", &InputError{"query", "query.query is empty: ask something"}
		}
		prompt, err := req.Query.Prompt()
		if err != nil {
			return "", &InputError{"query", "query." + err.Error()}
		}
		text = prompt
	}
	if strings.TrimSpace(text) == "" && len(req.Parts) == 0 {
		return "", &InputError{"input", "the message is empty: write something"}
	}
	return text, nil
}

func (s *Service) findAgent(ctx context.Context, req Request, name string) (*agent.Agent, error) {
	if req.Document != nil {
		return agent.Compile(req.Document)
	}
	return s.o.Catalog.Agent(ctx, name)
}

// findTools picks the declared tools; one that is not here is a warning of the
// run. The model hears of those whose server is down: its document may speak of
// them.
func (s *Service) findTools(ctx context.Context, j *job) {
	var found tool.Resolved
	if s.o.Tools != nil {
		found = s.o.Tools.Resolve(ctx, j.agent)
	} else {
		for _, ref := range j.agent.Tools {
			found.Missing = append(found.Missing, tool.Missing{Ref: ref})
		}
	}
	j.tools, j.chained = tellAgents(j.agent, found.Tools), found.Chained
	if found.ChainedMissing.Ref.Name != "" {
		j.chainedMissing = found.ChainedMissing.Message()
	}
	for _, m := range found.Missing {
		if m.Reason != "" && len(m.Near) == 0 { // not a mistake of the document
			j.absent = append(j.absent, m.Message())
		}
		j.warnings = append(j.warnings, event.WarningData{Code: "tool_unavailable", Message: m.Message()})
	}
}

// begin assembles the payload and stores the user's message. The history is read
// first: the message must not be in it.
func (s *Service) begin(ctx context.Context, j *job) (err error) {
	if j.user, err = s.readUser(ctx, j); err != nil {
		return err
	}
	start := store.RunStart{Session: j.session}
	if s.o.Store == nil {
		history, _, err := s.brought(j)
		j.messages = s.payload(j, j.user, history)
		return err
	}
	if !j.isNew() {
		if err := s.settle(ctx, j); err != nil {
			return err
		}
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
		fallthrough
	case !j.isNew():
		if history, err = s.history(ctx, j, start.DropAfter); err != nil {
			return err
		}
	}
	j.messages = s.payload(j, j.user, history)
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

// isNew reports whether the session is to be made.
func (j *job) isNew() bool { return j.session.CreatedAt.IsZero() }

// brought is the history that the client sent, and its rows where they are kept.
func (s *Service) brought(j *job) ([]llm.Message, []store.Message, error) {
	if j.input == "" && !j.named {
		return j.req.History, nil, nil // the results of its tools are what it is about
	}
	rows, err := clientRows(j.req.History, j.SessionID)
	if err != nil {
		return nil, nil, err
	}
	policy := s.policy(j.agent)
	if j.input == "" {
		policy.ReplayTools = true
	}
	history := memory.History(rows, policy)
	if !j.named {
		rows = nil // a client that sends everything each time would store it each time
	}
	return history, rows, nil
}

// history is what the model sees of the session, before a row unless that is 0.
func (s *Service) history(ctx context.Context, j *job, before int64) ([]llm.Message, error) {
	var src memory.Source = s.o.Store
	if before > 0 {
		src = upTo{s.o.Store, before}
	}
	return memory.Load(ctx, src, j.SessionID, s.policy(j.agent))
}

// upTo is a session as it was before a message.
type upTo struct {
	memory.Source
	seq int64
}

// Messages are the rows before it.
func (u upTo) Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error) {
	if f.BeforeSeq == 0 || f.BeforeSeq > u.seq {
		f.BeforeSeq = u.seq
	}
	return u.Source.Messages(ctx, sessionID, f)
}

// policy is how the document wants its history.
func (s *Service) policy(a *agent.Agent) memory.Policy {
	return memory.Policy{
		ReplayTools: a.HistoryTools == agent.HistoryReplay,
		Hints:       a.Document.Dialect == agent.Nested,
		KeepLast:    s.o.KeepLast,
		Budget:      s.o.Budget,
	}
}

// readSession fills in the session, and what the request says about it.
func (s *Service) readSession(ctx context.Context, j *job) error {
	said, err := sessionMetadata(j.req.SessionMetadata)
	if err != nil {
		return err
	}
	if s.o.Store != nil && j.named {
		j.session, err = s.o.Store.Session(ctx, j.SessionID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	j.session.ID = j.SessionID
	j.session.Name = cmp.Or(j.req.SessionName, j.session.Name)
	j.session.Metadata, _, err = store.MergeObjects(j.session.Metadata, said)
	if err == nil && len(said) > 0 && len(j.session.Metadata) > maxMetadata {
		err = &InputError{"session_metadata", "the session's metadata would be larger than 16 KiB"}
	}
	return err
}

// readUser is the caller's row, for the documents whose prompt names the user.
func (s *Service) readUser(ctx context.Context, j *job) (store.User, error) {
	if s.o.Store == nil || j.agent.Document.Dialect != agent.Nested || j.who.Anonymous() {
		return store.User{}, nil
	}
	user, err := s.o.Store.User(ctx)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return user, err
}

// maxMetadata bounds what is said about a session: it stands in every prompt of
// a flat agent.
const maxMetadata = 16 << 10

func sessionMetadata(m map[string]any) (json.RawMessage, error) {
	if len(m) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, &InputError{"session_metadata", "the session's metadata cannot be written as JSON"}
	}
	return raw, nil
}
