package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// request is the first stage of a turn: the checked Request. Nothing has been read from the
// store yet, and no field is checked again later.
type request struct {
	asked  Request
	caller identity.Identity
	// sessionNamed says that the caller chose the session, and may come back to it.
	sessionNamed bool
	// message is what the user says now.
	message message
	// model is the model that the request names, "" if it names no model.
	model       string
	clientTools []tool.Tool
	// metadata is what the request says about the session.
	metadata json.RawMessage
	// runID and answerID are the ids of the run and of the answer's row.
	runID, answerID string
	started         time.Time
	// resumed says that the run was begun before.
	resumed bool
	// trace is the span that a resumed run is below, as a traceparent header.
	trace string
}

// message is a message of the user, with the id of its row.
type message struct {
	id, text string
	parts    []llm.Part
}

func (m message) empty() bool { return m.text == "" && len(m.parts) == 0 }

// key names the session.
func (r request) key() sessions.Key {
	return sessions.Key{Tenant: r.caller.TenantID, User: r.caller.OwnerOf(r.caller.SessionID), Session: r.caller.SessionID}
}

// check makes the first stage of a turn from a new Request.
func check(ctx context.Context, req Request, now time.Time) (request, error) {
	if err := checkCombination(req); err != nil {
		return request{}, err
	}
	if err := req.checkAbout(); err != nil {
		return request{}, err
	}
	caller, err := identity.From(ctx)
	if err != nil {
		return request{}, err
	}
	if !caller.MayWrite() {
		// Without a database, or before its first write, nothing else would refuse it.
		if caller.Shared.ID != "" {
			return request{}, fmt.Errorf("%w: the caller may only read this shared session", store.ErrForbidden)
		}
		return request{}, fmt.Errorf("%w: the caller may only read: the token has the role %s", store.ErrForbidden, caller.Role)
	}
	if shared := caller.Shared; shared.ID != "" && (caller.SessionID != shared.Session || req.Thread != "" && req.Thread != shared.Session) {
		return request{}, &InputError{"session_id", "this address is that of one shared session; send its id, or none"}
	}
	r := request{
		asked: req, caller: caller, sessionNamed: caller.SessionID != "", model: cmp.Or(req.Model, caller.DefaultModel), started: now,
	}
	if len(req.Answers) > 0 {
		return r, nil // answers come without a message; the waiting run has everything else
	}
	if r.sessionNamed {
		if err := identity.ValidateID("session_id", caller.SessionID); err != nil {
			return r, err
		}
	}
	if req.Thread != "" {
		if err := identity.ValidateID("threadId", req.Thread); err != nil {
			return r, err
		}
	}
	if r.message.text, err = messageText(req); err != nil {
		return r, err
	}
	if err := checkParts(req); err != nil {
		return r, err
	}
	r.message.parts = req.Parts
	if r.clientTools, err = newClientTools(req.ClientTools, req.Protocol); err != nil {
		return r, err
	}
	if len(req.SessionMetadata) > 0 {
		if r.metadata, err = json.Marshal(req.SessionMetadata); err != nil {
			return r, &InputError{"session_metadata", "the session's metadata cannot be written as JSON"}
		}
		if len(r.metadata) > MaxSessionMetadata {
			return r, &InputError{"session_metadata", "the session's metadata are larger than 16 KiB"}
		}
	}
	return r, nil
}

// numbered gives the request the ids of a new run.
func (r request) numbered(newID func() string) request {
	if !r.sessionNamed {
		r.caller.SessionID = newID()
	}
	r.runID, r.answerID, r.message.id = newID(), newID(), newID()
	return r
}

const maxKey = 255

// checkCombination finds fields of a request that do not go together.
func checkCombination(req Request) error {
	plain := req.Input == "" && len(req.Parts) == 0 && req.Query == nil
	switch req.Busy {
	case "", BusyReject, BusyQueue, BusySteer, BusyInterrupt:
	default:
		return &InputError{"if_busy", "if_busy is reject, queue, steer or interrupt"}
	}
	switch {
	case len(req.Answers) > 0 && !plain:
		return &InputError{"answers", "answers to requests come without a message: send the message when the run is over, or instead of them"}
	case req.Regenerate && !(plain && len(req.Results) == 0):
		return &InputError{"regenerate", "to answer again, send no new message"}
	case req.Busy == BusySteer && len(req.Path) > 0:
		return &InputError{"if_busy", "an edited message cannot steer a run: use queue or interrupt"}
	case len(req.Key) > maxKey:
		return &InputError{"Idempotency-Key", "the idempotency key is longer than 255 characters"}
	case req.Busy == BusySteer && len(req.Parts) > 0:
		return &InputError{"if_busy", "a message that steers is text alone: leave images and documents for the next turn"}
	}
	return nil
}

// messageText returns the text of the user's message; "" if it is stored already, or comes
// with the history.
func messageText(req Request) (string, error) {
	text := req.Input
	if req.Regenerate || len(req.Results) > 0 && text == "" && len(req.Parts) == 0 {
		return "", nil
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

// checkParts checks the images and documents of a request's messages.
func checkParts(req Request) error {
	if err := checkMessageParts("input", req.Parts); err != nil {
		return err
	}
	for i := range req.History {
		if err := checkMessageParts("history", req.History[i].Parts); err != nil {
			return err
		}
	}
	return nil
}

func checkMessageParts(field string, parts []llm.Part) error {
	if len(parts) > MaxParts {
		return &InputError{field, fmt.Sprintf("a message has %d images and documents; %d are the most", len(parts), MaxParts)}
	}
	for i, p := range parts {
		if err := CheckPart(p); err != nil {
			return &InputError{field, fmt.Sprintf("part %d of a message %v", i+1, err)}
		}
	}
	return nil
}

// maxClientTools bounds the tools that a client may bring.
const maxClientTools = 128

// newClientTools makes the tools of a client. OpenAI's clients get the arguments as the model
// writes them, and check them.
func newClientTools(specs []llm.ToolSpec, protocol string) ([]tool.Tool, error) {
	if len(specs) > maxClientTools {
		return nil, &InputError{"tools", "there are more than 128 tools"}
	}
	var tools []tool.Tool
	for _, spec := range specs {
		t, err := cast.NewClientTool(spec, protocol == protocolOpenAI)
		if err != nil {
			return nil, &InputError{"tools", "the tool " + spec.Name + " cannot be offered: " + err.Error()}
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// answeringSent makes the last message of the history that the client sent the message to
// answer. It serves clients whose session is not stored here.
func (r request) answeringSent() (request, error) {
	n := len(r.asked.History) - 1
	if n < 0 || r.asked.History[n].Role != llm.User {
		return r, &InputError{"regenerate", "the session has no message that could be answered again"}
	}
	last := r.asked.History[n]
	r.message.text, r.message.parts = last.Content, last.Parts
	r.asked.History, r.asked.Regenerate = r.asked.History[:n], false
	return r, nil
}
