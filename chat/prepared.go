package chat

import (
	"cmp"
	"context"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/chat/internal/prompt"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/chat/internal/route"
	"github.com/p8-org/p8/chat/internal/state"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// prepared is the second stage of a turn: the agent, the message that it answers, and the
// payload of its model. A turn that is handed over to another agent goes through it again.
type prepared struct {
	request request
	// caller is the request's caller, as the answering agent sees it.
	caller identity.Identity
	// message is the user's message that is answered; it is empty if the run goes on with
	// results of the client's tools.
	message message
	session session
	// auto says that the client leaves it to p8 which agent answers.
	auto bool
	// document is stored with the run, because no other process has it; nil if the run uses
	// the catalog's.
	document *agent.Document

	cast    cast.Cast
	payload prompt.Payload
	// shared is the state that the agent shares with the client; nil for none.
	shared *state.Shared
}

// preparer makes the first two stages of turns, and stores what a run begins with.
type preparer struct {
	o       *Options
	router  *route.Router
	casts   *cast.Finder
	prompts *prompt.Composer
	// ends is nil if nothing is stored.
	ends *recovery.Ends
}

// newPreparer makes the router, the finder of casts and the composer of payloads.
func newPreparer(o *Options) *preparer {
	p := &preparer{o: o}
	p.router = route.New(route.Options{
		Catalog: o.Catalog, Models: o.Models, Classifier: o.Classifier, DefaultModel: o.DefaultModel, DefaultAgent: DefaultAgent, Logger: o.Logger,
	})
	var agents func(ctx context.Context) ([]catalog.Routable, error)
	if l, ok := o.Catalog.(Lister); ok {
		agents = l.Routable
	}
	p.casts = cast.New(cast.Options{
		Agents: agents,
		Models: o.Models, Tools: o.Tools, DefaultModel: o.DefaultModel, Fallback: o.Fallback,
		Script:  func(agent string) cast.Script { return o.Scripts[agent] },
		Message: func(err error) string { return Describe(err).Message }, Logger: o.Logger,
	})
	prompts := prompt.Options{
		KeepLast: o.KeepLast, Budget: o.Budget, Moments: o.Moments, ResultChars: o.ResultChars, Window: o.Window, Defaults: o.Defaults,
	}
	if o.Store != nil {
		prompts.Attachments = o.Store
		p.ends = recovery.NewEnds(recovery.Options{Store: o.Store, Process: o.Process, Now: o.Now, NewID: o.NewID, Logger: o.Logger})
	}
	p.prompts = prompt.New(prompts)
	return p
}

// named is the agent that a request names. The agent is nil if it cannot be found; the
// error is reported when the agent is needed.
type named struct {
	name  string
	agent *agent.Agent
	auto  bool
}

// namedAgent finds the agent that the request names.
func (s *preparer) namedAgent(ctx context.Context, r request) named {
	n := named{name: cmp.Or(r.asked.Agent, r.caller.AgentSchemaURI, DefaultAgent)}
	if n.auto = r.asked.Document == nil && s.router.IsAuto(ctx, n.name); n.auto {
		n.name = DefaultAgent // its history suits most agents, so the session is rarely read twice
	}
	n.agent, _ = s.findAgent(ctx, r, n.name, named{})
	return n
}

// findAgent finds an agent by name, or compiles the request's document.
func (s *preparer) findAgent(ctx context.Context, r request, name string, known named) (*agent.Agent, error) {
	switch {
	case known.agent != nil && known.name == name:
		return known.agent, nil
	case r.asked.Document != nil:
		return agent.Compile(r.asked.Document)
	}
	return s.o.Catalog.Agent(ctx, name)
}

// withCast makes the agent of that name answer.
func (s *preparer) withCast(ctx context.Context, p prepared, name string, known named) (prepared, error) {
	a, err := s.findAgent(ctx, p.request, name, known)
	if err != nil {
		return p, err
	}
	p.cast, err = s.casts.Cast(ctx, a, cast.Wanted{
		Model: p.request.model, Output: p.request.asked.ResponseFormat, ClientTools: p.request.clientTools,
		Inline: p.request.asked.Document != nil, Routed: p.auto,
	})
	p.document = p.request.asked.Document
	if giver, ok := s.o.Catalog.(Giver); ok && p.document == nil && giver.Given(name) {
		p.document = a.Document
	}
	p.caller = p.caller.Child(p.cast.Name, p.request.model)
	return p, err
}

// look reads the session and finds the agent that answers.
func (s *preparer) look(ctx context.Context, r request, preview bool) (prepared, error) {
	first := s.namedAgent(ctx, r)
	p := prepared{request: r, caller: r.caller, message: r.message, auto: first.auto}
	var err error
	if p.session, err = s.readSession(ctx, p, first.agent, 0); err != nil {
		return p, err
	}
	if r.asked.Regenerate && p.session.isNew() {
		if p.request, err = r.answeringSent(); err != nil {
			return p, err
		}
		p.message = p.request.message
	}
	name := first.name
	if r.asked.Document == nil {
		if name, p.session, err = s.choose(ctx, p, first, preview); err != nil {
			return p, err
		}
	}
	if p, err = s.withCast(ctx, p, name, first); err != nil {
		return p, err
	}
	return s.withState(ctx, p)
}

// MaxSessionMetadata bounds the metadata of a session, in bytes: every prompt of a flat
// agent contains them.
const MaxSessionMetadata = 16 << 10

// readSession reads what the agent may need of the session, up to the message with the
// number before; 0 reads all. The agent is nil if it is not known yet.
func (s *preparer) readSession(ctx context.Context, p prepared, a *agent.Agent, before int64) (session, error) {
	var out session
	if s.o.Store != nil && (p.request.sessionNamed || prompt.Nested(a)) {
		var err error
		if out, err = s.recall(ctx, p, a, before); err != nil {
			return out, err
		}
	}
	if thread := p.request.asked.Thread; thread != p.request.caller.SessionID && thread != "" && OfOtherThread(out.recalled.Session.Metadata, thread) {
		return out, ErrBusy // another request has just begun that thread
	}
	out.stored = out.recalled.Session
	out.stored.ID = p.request.caller.SessionID
	out.stored.Name = cmp.Or(p.request.asked.SessionName, out.stored.Name)
	if !store.IsBackground(out.stored.Mode) {
		out.stored.Mode = cmp.Or(p.request.asked.SessionMode, out.stored.Mode)
	}
	out, err := out.with(p.request.metadata)
	if err == nil && len(p.request.metadata) > 0 && len(memory.Note(out.stored.Metadata, false)) > MaxSessionMetadata {
		err = &InputError{"session_metadata", "the session's metadata would be larger than 16 KiB"}
	}
	return out, err
}

// recall reads the session again, as the agent wants it.
func (s *preparer) recall(ctx context.Context, p prepared, a *agent.Agent, before int64) (session, error) {
	q := s.prompts.Policy(a).Query(p.request.caller.SessionID)
	q.BeforeSeq, q.Runs = before, !p.request.resumed
	q.GoesBack = q.Runs && before > 0
	q.User = (p.auto || prompt.Nested(a)) && !p.caller.Anonymous()
	out, err := p.session, error(nil)
	out.recalled, err = s.o.Store.Recall(ctx, q)
	out.recalledFor = a
	return out, err
}

// choose returns the name of the agent that answers, and the session with its new
// routing.
func (s *preparer) choose(ctx context.Context, p prepared, first named, preview bool) (string, session, error) {
	asked := route.Asked{
		Agent: cmp.Or(p.request.asked.Agent, p.caller.AgentSchemaURI, DefaultAgent), Auto: first.auto,
		Session: p.session.stored, Message: p.message.text, Preview: preview, User: p.session.recalled.User,
	}
	if first.auto {
		asked.Default, asked.Recent = first.agent, s.recent(p)
	}
	name, patch, used := s.router.Choose(ctx, asked)
	for _, u := range used {
		p.session.spent = append(p.session.spent, s.spentChoosing(u))
	}
	changed, err := p.session.with(patch)
	if err != nil {
		s.o.Logger.WarnContext(ctx, "a session's routing could not be changed", "session", p.session.stored.ID, "error", err)
		return name, p.session, nil
	}
	return name, changed, nil
}

// maxRecent is how many messages a classifier sees.
const maxRecent = 6

// recent returns the end of the conversation, without calls and thoughts.
func (s *preparer) recent(p prepared) []llm.Message {
	var out []llm.Message
	if p.session.isNew() || s.o.Store == nil {
		for _, m := range p.request.asked.History {
			if m.Content != "" && (m.Role == llm.User || m.Role == llm.Assistant) {
				out = append(out, m)
			}
		}
		return out[max(0, len(out)-maxRecent):]
	}
	for _, row := range p.session.recalled.Messages {
		if row.Content != nil && (row.Type == store.MessageUser || row.Type == store.MessageAssistant) {
			out = append(out, llm.Message{Role: llm.Role(row.Type), Content: *row.Content})
		}
	}
	return out[max(0, len(out)-maxRecent):]
}

// scene returns the parts of the payload.
func (p prepared) scene() prompt.Scene {
	return prompt.Scene{
		Cast: p.cast, Caller: p.caller, Session: p.session.stored, Recalled: p.session.recalled,
		Instruction: p.instruction(), Message: p.message.text, Parts: p.message.parts,
		Settings: p.request.asked.Settings, Started: p.request.started,
	}
}

// withSession returns the stage with the payload of the session's own conversation.
func (s *preparer) withSession(ctx context.Context, p prepared) (_ prepared, err error) {
	p.payload, err = s.prompts.Remembering(ctx, p.scene())
	return p, err
}

// withSent returns the stage with the payload of the conversation that the client sent, and
// the rows of that conversation if they are to be stored.
func (s *preparer) withSent(p prepared) (prepared, []store.Message, error) {
	sent := p.request.asked.History
	if p.message.text == "" && !p.request.sessionNamed {
		p.payload = s.prompts.Verbatim(p.scene(), sent) // it ends with results of the client's tools
		return p, nil, nil
	}
	rows, err := record.FromMessages(sent, p.session.stored.ID)
	if err != nil {
		return p, nil, err
	}
	p.payload = s.prompts.Sent(p.scene(), rows, p.message.text == "")
	if !p.request.sessionNamed {
		rows = nil // the client sends the whole conversation each time: storing it would duplicate it
	}
	return p, rows, nil
}

// settings returns the settings of the request, completed by the document's and the defaults.
func (s *preparer) settings(p prepared) llm.Settings {
	return p.request.asked.Settings.Or(p.cast.Agent.Settings).Or(s.o.Defaults)
}
