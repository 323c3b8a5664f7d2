// Package state keeps the state that an agent and the client share in a session.
//
// A [Shared] belongs to one turn. It begins with the client's state, or that of the last
// turn; the tool update_state changes it. The session's row has the newest state.
package state

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/memory"
)

// Max bounds a state, in bytes: every prompt of the agent and each of its changes contain it.
const Max = 64 << 10

// Shared is the state of a turn. It is safe for concurrent use.
type Shared struct {
	about *agent.State

	mu  sync.Mutex
	now map[string]json.RawMessage
	// untold are the changes since the last call of Told: the last one of each part.
	untold map[string]operation
}

// New returns the state of a turn of an agent that declares one. stored is the session's
// metadata; a stored state that does not fit the document any more is dropped.
func New(ctx context.Context, about *agent.State, stored json.RawMessage) *Shared {
	s := &Shared{about: about, now: map[string]json.RawMessage{}, untold: map[string]operation{}}
	was, _ := memory.SplitState(stored)
	if len(was) == 0 || len(was) > Max {
		return s
	}
	if problems, err := about.Validate(ctx, was); err != nil || len(problems) > 0 {
		return s
	}
	var now map[string]json.RawMessage
	if json.Unmarshal(was, &now) == nil && now != nil {
		s.now = now
	}
	return s
}

// Metadata returns the part of a session's metadata that holds a state.
func Metadata(state json.RawMessage) json.RawMessage {
	return slices.Concat([]byte(`{"`+memory.NoteState+`":`), state, []byte{'}'})
}

// Given takes the state that the client sent. The error says what is wrong with it.
func (s *Shared) Given(ctx context.Context, raw json.RawMessage) error {
	if len(raw) > Max {
		return fmt.Errorf("the state is %d bytes long; at most %d are allowed", len(raw), Max)
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || given == nil {
		return fmt.Errorf("the state is not a JSON object")
	}
	problems, err := s.about.Validate(ctx, raw)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("the state does not fit the agent's schema: %s", strings.Join(problems, "; "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = given
	return nil
}

// JSON returns the whole state.
func (s *Shared) JSON() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return encode(s.now)
}

// Snapshot returns the event of the whole state.
func (s *Shared) Snapshot() *event.StateData {
	d := &event.StateData{State: s.JSON()}
	for _, p := range s.about.Predictions {
		d.Predict = append(d.Predict, event.Prediction{StateKey: p.StateKey, Tool: p.Tool, Argument: p.Argument})
	}
	return d
}

// Problem says why a change is refused, in words for the model.
type Problem struct{ message string }

// Error returns the message.
func (p *Problem) Error() string { return p.message }

// Change replaces parts of the state, and reports whether that changed it. It returns a *Problem,
// with the state unchanged, if the new state would not be valid. Told has the change.
func (s *Shared) Change(ctx context.Context, parts map[string]json.RawMessage) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(s.now)
	patch := map[string]operation{}
	for key, value := range parts {
		op := operation{Op: "add", Path: "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key), Value: value}
		if was, ok := next[key]; ok {
			if equal(was, value) {
				continue
			}
			op.Op = "replace"
		}
		next[key] = value
		patch[key] = op
	}
	if len(patch) == 0 {
		return false, nil
	}
	raw := encode(next)
	if len(raw) > Max {
		return false, &Problem{fmt.Sprintf("the state would be %d bytes long; at most %d are allowed; keep less in it", len(raw), Max)}
	}
	problems, err := s.about.Validate(ctx, raw)
	if err != nil {
		return false, err
	}
	if len(problems) > 0 {
		return false, &Problem{"the state would not fit its schema: " + strings.Join(problems, "; ")}
	}
	s.now = next
	for key, op := range patch {
		if before, ok := s.untold[key]; ok {
			op.Op = before.Op
		}
		s.untold[key] = op
	}
	return true, nil
}

// Told returns the event of all changes since its last call; nil if there are none. The calls
// of one step change the state concurrently, and their events may arrive out of order. Only
// one goroutine calls Told, so each event that Told returns follows from the one before.
func (s *Shared) Told() *event.StateData {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.untold) == 0 {
		return nil
	}
	var delta []operation
	for _, key := range slices.Sorted(maps.Keys(s.untold)) {
		delta = append(delta, s.untold[key])
	}
	clear(s.untold)
	return &event.StateData{State: encode(s.now), Delta: encode(delta)}
}

// operation is a JSON Patch operation (RFC 6902).
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// Predicted returns the parts of the state that the arguments of a call become; none for
// update_state, which changes the state itself.
func (s *Shared) Predicted(tool string, arguments json.RawMessage) map[string]json.RawMessage {
	var parts, args map[string]json.RawMessage
	for _, p := range s.about.Predictions {
		if p.Tool != tool || tool == agent.UpdateState {
			continue
		}
		if args == nil && json.Unmarshal(arguments, &args) != nil {
			return nil
		}
		if value, ok := args[p.Argument]; ok {
			if parts == nil {
				parts = map[string]json.RawMessage{}
			}
			parts[p.StateKey] = value
		}
	}
	return parts
}

// Predicts reports whether a client shows arguments of the tool as the state.
func (s *Shared) Predicts(tool string) bool {
	return slices.ContainsFunc(s.about.Predictions, func(p agent.Prediction) bool { return p.Tool == tool })
}

// encode returns a state, or changes, as JSON. The keys of a state are in order.
func encode[T map[string]json.RawMessage | []operation](v T) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return json.RawMessage("{}") // cannot fail: every value was decoded
	}
	return bytes.TrimSpace(b.Bytes())
}

// equal reports whether two values have the same text, apart from white space.
func equal(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
