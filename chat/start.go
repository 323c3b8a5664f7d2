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
	stored  context.Context
	input   string
	started time.Time
	agent   *agent.Agent
	model   llm.Model
	tools   []tool.Tool
	chained tool.Tool
	// chainedMissing says why chained is nil although the document names one.
	chainedMissing string
	warnings       []event.WarningData
	// absent says which declared tools the model has to do without, and why.
	absent []string
	// named: the caller chose the session, and may come back to it.
	named bool
	// session is as it is stored, with what the request says about it.
	session  store.Session
	messages []llm.Message
}

// Start begins a turn and returns as soon as the user's message is stored. The
// run ends by itself, whatever becomes of ctx, which bounds the preparation
// only. A failure here is the request's or the store's, and [Describe] words
// it; a failure of the model is an event of the turn.
func (s *Service) Start(ctx context.Context, req Request) (*Turn, error) {
	j, err := s.resolve(ctx, req)
	if err != nil {
		return nil, err
	}
	ctx = identity.With(ctx, j.who)
	j.stored = context.WithoutCancel(ctx)
	runCtx, cancel := context.WithCancelCause(j.stored)
	j.cancel = cancel
	if err := s.reserve(j.key, j.Turn); err != nil {
		cancel(err)
		return nil, err
	}
	if err := s.begin(ctx, j); err != nil {
		s.release(j.key)
		s.turns.Done()
		cancel(err)
		return nil, err
	}
	go s.run(runCtx, j)
	return j.Turn, nil
}

// resolve finds what the request names, without touching the session.
func (s *Service) resolve(ctx context.Context, req Request) (*job, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	j := &job{Turn: new(Turn), req: req, started: s.o.Now()}
	if j.input, err = input(req); err != nil {
		return nil, err
	}
	if err := checkParts(req); err != nil {
		return nil, err
	}
	if j.agent, err = s.findAgent(ctx, req, who.AgentSchemaURI); err != nil {
		return nil, err
	}
	if err := s.findModel(j, cmp.Or(req.Model, who.DefaultModel)); err != nil {
		return nil, err
	}
	s.findTools(ctx, j)
	if j.named = who.SessionID != ""; !j.named {
		who.SessionID = s.o.NewID()
	} else if err := identity.ValidateID("session_id", who.SessionID); err != nil {
		return nil, err
	}
	j.log.init()
	j.RunID, j.MessageID, j.InReplyTo = s.o.NewID(), s.o.NewID(), s.o.NewID()
	j.SessionID, j.Agent = who.SessionID, j.agent.Name
	j.who = who.Child(j.Agent, j.Model)
	j.key = sessionKey{who.TenantID, who.UserID, who.SessionID}
	return j, nil
}

// input is the user's message.
func input(req Request) (string, error) {
	text := req.Input
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

func (s *Service) findAgent(ctx context.Context, req Request, uri string) (*agent.Agent, error) {
	if req.Document != nil {
		return agent.Compile(req.Document)
	}
	return s.o.Catalog.Agent(ctx, cmp.Or(req.Agent, uri, DefaultAgent))
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
	j.tools, j.chained = found.Tools, found.Chained
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

// begin reads the session, assembles the payload and stores the user's message.
// The history is read first: the message must not be in it.
func (s *Service) begin(ctx context.Context, j *job) error {
	isNew, err := s.readSession(ctx, j)
	if err != nil {
		return err
	}
	user, err := s.readUser(ctx, j)
	if err != nil {
		return err
	}
	imported := isNew && len(j.req.History) > 0
	var rows []store.Message
	var history []llm.Message
	switch policy := s.policy(j.agent); {
	case imported:
		if rows, err = clientRows(j.req.History, j.SessionID); err != nil {
			return err
		}
		history = memory.History(rows, policy)
		if !j.named {
			rows = nil // a client that sends everything each time would store it each time
		}
	case !isNew:
		if history, err = memory.Load(ctx, s.o.Store, j.SessionID, policy); err != nil {
			return err
		}
	}
	j.messages = s.payload(j, user, history)
	if s.o.Store == nil {
		return nil
	}
	return s.storeInput(ctx, j, rows)
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

// readSession fills in the session and says whether it is new.
func (s *Service) readSession(ctx context.Context, j *job) (isNew bool, err error) {
	said, err := sessionMetadata(j.req.SessionMetadata)
	if err != nil {
		return false, err
	}
	isNew = true
	if s.o.Store != nil {
		j.session, err = s.o.Store.Session(ctx, j.SessionID)
		switch {
		case err == nil:
			isNew = false
		case !errors.Is(err, store.ErrNotFound):
			return false, err
		}
	}
	j.session.ID = j.SessionID
	j.session.AgentName = j.Agent
	j.session.Name = cmp.Or(j.req.SessionName, j.session.Name)
	j.session.Metadata, _, err = store.MergeObjects(j.session.Metadata, said)
	if err == nil && len(said) > 0 && len(j.session.Metadata) > maxMetadata {
		err = &InputError{"session_metadata", "the session's metadata would be larger than 16 KiB"}
	}
	return isNew, err
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
