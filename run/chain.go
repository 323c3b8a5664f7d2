package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/event"
)

// chain calls the agent's chained tool with a valid answer. The call is validated, timed
// and shown as any other, but the model does not see it. The answer stands if the call
// fails, whatever the cause: a wrong argument, a panic, the limit of tool calls, the time
// or a stop. Only a reader that breaks off ends the call. If the call waits for the user,
// chain returns that end of the run.
func (r *runner) chain(d *event.DoneData) (*event.DoneData, error) {
	if r.Chained == nil {
		return d, r.chainedMissing()
	}
	c := &call{id: "chained_" + r.RunID, name: r.Chained.Spec().Name, tool: r.Chained}
	c.args.Add(string(d.Output))
	r.remind(c)
	if err := r.handOn(c); errors.Is(err, errBroken) || err != nil && r.interrupts() {
		return nil, err
	}
	if waits := waiting([]*call{c}); waits != nil {
		return waits, nil
	}
	if c.Failed {
		r.Logger.Warn("the chained tool failed", "tool", c.name, "why", c.problem(), "agent", r.Agent.Name, "run", r.RunID)
	}
	d.ChainedTool, d.ChainedResult = c.name, c.object()
	return d, nil
}

// handOn makes the chained call unless its result is known.
func (r *runner) handOn(c *call) error {
	if c.reported {
		return nil
	}
	var limit string // a limit refuses the call and does not end the run
	admitted, err := r.admit(c, &limit, false)
	if admitted {
		err = r.runAll([]*call{c})
	}
	return err
}

// chainedMissing reports that the document names a tool that does not exist here.
func (r *runner) chainedMissing() error {
	name := r.Agent.ChainedTool
	if name == "" {
		return nil
	}
	why := cmp.Or(r.ChainedMissing, "the tool "+name+" is not available here")
	r.Logger.Warn("the chained tool is not available", "tool", name, "why", why, "agent", r.Agent.Name, "run", r.RunID)
	return r.warn(event.WarningData{Code: "chained_tool_unavailable", Message: "the answer was not handed on: " + why})
}

// object returns the result of a call as a JSON object.
func (c *call) object() json.RawMessage {
	content := strings.TrimSpace(c.Content)
	isObject := strings.HasPrefix(content, "{") && json.Valid([]byte(content))
	switch {
	case c.Failed && isObject:
		return json.RawMessage(failure(c.problem()).Content)
	case c.Failed:
		return json.RawMessage(failure(cmp.Or(c.reason, content, c.problem())).Content)
	case isObject:
		return json.RawMessage(content)
	}
	return json.RawMessage(`{"result":` + string(jsonValue(c.Content)) + `}`)
}
