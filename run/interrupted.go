package run

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// Marks of a call in Entry.Shown, besides the events that were shown. Together with the
// questions of the call, in the journal's order, they tell whether it was under way
// when the process died.
const (
	// attemptBegun: an attempt of the call begins. The first attempt of a call that needs
	// no approval begins with shownExecuting.
	attemptBegun = "begun"
	// attemptOver: the call is not under way. It was never made, or waits for a run below
	// it.
	attemptOver = "over"
)

// underWay reports whether an attempt of the call had begun and not ended when the
// run stopped, and how many attempts were marked. An attempt ends with a question of
// the call, attemptOver, or a result. While a question of the call has no answer, an
// attempt gets no further than the one that asked it: the call is not under way.
func (r *runner) underWay(c *call) (begun bool, attempts int) {
	unanswered := false
	for _, name := range c.shown {
		switch {
		case name == shownExecuting:
			begun = !c.guarded
		case name == attemptBegun:
			begun = true
			attempts++
		case name == shownText, strings.HasPrefix(name, shownByTool), name == r.repeatID(c, attempts):
		case name == attemptOver:
			begun = false
		default: // a question
			begun = false
			if _, answered := r.Journal.Answer(name); !answered {
				unanswered = true
			}
		}
	}
	return begun && !unanswered, attempts
}

// repeatID names the question whether to repeat a call after its attempts so far.
func (r *runner) repeatID(c *call, attempts int) string {
	return r.requestID(c, 0, "interrupted", strconv.Itoa(attempts))
}

// again decides about a call that may have been under way when the run's process
// died, and reports whether it is to be made. An unfinished call is repeated only if
// its tool or its document allows it, or its user does.
func (r *runner) again(c *call) (bool, error) {
	if len(c.shown) == 0 || c.policy == agent.InterruptedRepeat {
		return true, nil
	}
	begun, attempts := r.underWay(c)
	if !begun {
		return true, nil
	}
	if c.policy != agent.InterruptedAsk {
		return false, r.leaveUnknown(c, "")
	}
	id := r.repeatID(c, attempts)
	answer, answered := r.Journal.Answer(id)
	switch {
	case !answered:
		c.waiting = true
		return false, r.request(c, &question{id, tool.Question{
			Kind: event.RequestApproval,
			Message: fmt.Sprintf("The server stopped while %s called %s, which may or may not have been done. Call it again?",
				r.Agent.Name, tool.InWords(c.call())),
		}})
	case answer.Action == tool.Accepted:
		return true, nil
	}
	return false, r.leaveUnknown(c, answer.Reason)
}

// leaveUnknown ends an interrupted call that is not repeated. said is the comment of a
// user who declined the repetition. The call is charged as a tool call: it may have been
// done.
func (r *runner) leaveUnknown(c *call, said string) error {
	c.account.toolCall()
	why := "the server stopped while this call was under way: it may or may not have been done, and was not repeated; check before you call it again"
	if said != "" {
		why += "; the user said: " + said
	}
	c.result = failure(why)
	if content, err := json.Marshal(map[string]string{"status": "unknown", "error": why}); err == nil {
		c.Content = string(content)
	}
	return r.emitResult(c, false)
}

// commit stores what was recorded about the calls before those that act are made. A call
// that was shown before gets a new mark that it is under way.
func (r *runner) commit(calls []*call) error {
	if r.Journal == nil {
		return nil
	}
	acts := false
	var marks []Entry
	for _, c := range calls {
		acts = acts || !tool.AnnotationsOf(c.tool).ReadOnly
		if c.policy != agent.InterruptedRepeat && (c.guarded || len(c.shown) > 0) {
			marks = append(marks, Entry{Thread: r.scope.Thread, ToolCallID: c.id, Shown: attemptBegun})
		}
	}
	if !acts && len(marks) == 0 {
		return nil
	}
	if err := r.Journal.Commit(r.ctx, marks...); err != nil {
		r.notMade(calls)
		return fmt.Errorf("run: store the calls: %w", err)
	}
	return nil
}

// notMade records which calls were never made, or wait. The resumed run knows by this
// that they are not under way.
func (r *runner) notMade(calls []*call) {
	var entries []Entry
	for _, c := range calls {
		if !c.reported && (!c.made || c.paused) {
			entries = append(entries, Entry{Thread: r.scope.Thread, ToolCallID: c.id, Shown: attemptOver})
		}
	}
	if err := r.scope.ledger.record(r.ctx, entries); err != nil {
		r.Logger.Warn("the journal does not know that calls were not made", "run", r.RunID, "error", err)
	}
}

// Key implements tool.Keyed. It is the same each time the run makes this call, and no
// other call has it.
func (a *asker) Key() string {
	s := &a.r.scope
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(s.RootRunID+"\x00"+s.Thread+"\x00"+a.c.id)).String()
}
