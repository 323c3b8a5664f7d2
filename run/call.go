package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/telemetry"
	"github.com/p8-org/p8/tool"
)

// abandonAfter is how long a call may take to return after its context has ended.
const abandonAfter = 2 * time.Second

// call is one tool call of the model.
type call struct {
	index int
	id    string
	name  string
	args  event.Deltas
	// piece is the payload of the pieces of the arguments.
	piece pieces
	// signature is sent back with the call to the provider that gave it.
	signature string

	tool     tool.Tool
	raw      json.RawMessage
	written  string // the arguments, if they are no JSON object
	reported bool   // its end was shown
	waiting  bool   // for the user or, if atClient, for the client's tool
	atClient bool
	guarded  bool   // its user must approve it
	policy   string // what happens to an interrupted attempt
	made     bool   // this process called the tool
	result

	account Budget       // consumed by the call and the runs below it
	begun   atomic.Int64 // runs below it
	scope   Scope
	asker   *asker
	shown   []string      // before the run was resumed
	spoke   bool          // a run below it has said something
	over    bool          // guarded by the queue
	open    []event.Event // of calls below it that have not ended
	row     string        // of a result that the model is not shown whole
}

// call returns the call as the tool gets it.
func (c *call) call() tool.Call {
	return tool.Call{ID: c.id, Name: c.name, Arguments: c.raw}
}

// result is the answer to a call.
type result struct {
	tool.Result
	reason string // why it failed; "" if it did not
	paused bool   // it has no result yet
}

// prepareTools offers the tools to the model; the spec of r.Tools[i] is
// r.req.Tools[i].
func (r *runner) prepareTools() error {
	r.req.Tools = make([]llm.ToolSpec, 0, len(r.Tools)+1)
	for _, t := range r.Tools {
		spec := t.Spec()
		if r.findTool(spec.Name) != nil {
			return fmt.Errorf("run: two tools are named %q", spec.Name)
		}
		r.req.Tools = append(r.req.Tools, spec)
	}
	return nil
}

// findTool returns the tool of that name, nil if the agent has no such tool. An agent has few
// tools: a scan is faster than a map.
func (r *runner) findTool(name string) tool.Tool {
	for i := range min(len(r.Tools), len(r.req.Tools)) {
		if r.req.Tools[i].Name == name {
			return r.Tools[i]
		}
	}
	return nil
}

// check finds the call's tool, unless it has one, and validates the arguments. It returns
// what is wrong with the call, in words for the model.
func (r *runner) check(c *call) string {
	c.raw = json.RawMessage("{}")
	if c.tool == nil {
		c.tool = r.findTool(c.name)
	}
	raw, err := tool.Arguments(c.args.String())
	if err == nil {
		c.raw = raw
	} else {
		text := c.args.String()
		c.written = text[:min(len(text), tool.MaxArguments)]
		if _, ok := c.tool.(tool.Unchecked); ok {
			return ""
		}
	}
	if c.tool == nil {
		return fmt.Sprintf("there is no tool named %q; %s", c.name, r.toolList())
	}
	c.policy = tool.IfInterrupted(c.tool)
	if err != nil {
		return err.Error()
	}
	if err := tool.Validate(r.ctx, c.tool, raw); err != nil {
		return err.Error()
	}
	return ""
}

func (r *runner) toolList() string {
	if len(r.Tools) == 0 {
		return "this agent has no tools"
	}
	names := make([]string, len(r.Tools))
	for i := range names {
		names[i] = r.req.Tools[i].Name
	}
	slices.Sort(names)
	return "the tools are " + strings.Join(names, ", ")
}

// fail ends a call that is not made. The model sees why.
func (r *runner) fail(c *call, reason string) error {
	c.result = failure(reason)
	return r.emitResult(c, false)
}

func failure(reason string) result {
	content, err := json.Marshal(map[string]string{"status": "error", "error": reason})
	if err != nil {
		content = []byte(strconv.Quote(reason))
	}
	return result{Result: tool.Result{Content: string(content), Failed: true}, reason: reason}
}

// emitResult emits how a call ended, its action first; more says that the end of another
// one follows at once.
func (r *runner) emitResult(c *call, more bool) error {
	if c.paused {
		return r.wait(c)
	}
	if err := r.endBelow(c); err != nil {
		return err
	}
	c.reported, c.waiting = true, false
	r.stillHeard()
	if c.Usage != (event.UsageData{}) {
		own := r.of
		own.Usage = c.Usage
		c.account.charge(event.UsageData{}, []Spent{own})
	}
	if c.Action != nil {
		if err := r.emit(event.New(c.Action)); err != nil {
			return err
		}
	}
	r.observe(&c.Result)
	d := &event.ToolCallData{
		Name: c.name, ID: c.id, Status: event.ToolCompleted,
		Arguments: c.raw, Result: jsonValue(c.Content), Content: c.Content, Sources: c.Sources,
	}
	if c.Failed {
		d.Status, d.ErrorMessage, d.Sources = event.ToolFailed, c.problem(), nil
	} else {
		d.Files = r.scope.files.of(&c.Result)
	}
	d.MessageID, d.More = r.chooseRow(c), more
	r.keepResult(c)
	return r.recordAndEmit(d)
}

// problem returns why a call failed.
func (res *result) problem() string {
	return cmp.Or(res.reason, saidError(res.Content), "the tool reported an error")
}

// saidError returns the error of a result {"status":"error","error":…}.
func saidError(content string) string {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(content), &said) != nil {
		return ""
	}
	return said.Error
}

// jsonValue returns content if it is JSON, else content as a JSON string.
func jsonValue(content string) json.RawMessage {
	raw := json.RawMessage(content)
	if json.Valid(raw) {
		return raw
	}
	quoted, err := json.Marshal(content)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return quoted
}

// invoke makes one call, as an operation.
func (r *runner) invoke(ctx context.Context, c *call, emit func(event.Event) bool) result {
	ctx, op := telemetry.Start(ctx, telemetry.Tool, c.name)
	if op == nil {
		return r.attempt(ctx, c, emit)
	}
	res := failure("the tool failed unexpectedly")
	defer func() { r.endCall(ctx, op, &res) }()
	r.describeCall(ctx, op, c)
	res = r.attempt(ctx, c, emit)
	return res
}

// attempt makes one call within its time. A tool that ignores the end of its context is
// abandoned.
func (r *runner) attempt(ctx context.Context, c *call, emit func(event.Event) bool) result {
	if ctx.Err() != nil {
		return failure("the call was cancelled")
	}
	c.made = true
	patience := r.patience(c)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx = context.WithValue(ctx, scopeKey{}, r.scopeOf(c))
	if r.Journal != nil {
		c.asker = &asker{r: r, c: c}
		ctx = tool.WithAsker(ctx, c.asker)
	}
	done := make(chan result, 1)
	go func() { done <- r.callTool(ctx, c, emit) }()
	select {
	case res := <-done:
		return res
	case <-ctx.Done():
	}
	late := time.NewTimer(abandonAfter)
	defer late.Stop()
	select {
	case res := <-done:
		if res.Failed {
			return r.outOfTime(ctx, patience)
		}
		return res
	case <-late.C:
		r.Logger.Warn("a tool ignored its deadline", "tool", c.name, "call", c.id, "run", r.RunID)
		return r.outOfTime(ctx, patience)
	}
}

// patience returns how long a call may take.
func (r *runner) patience(c *call) time.Duration {
	if t, ok := c.tool.(tool.Timed); ok {
		return positive(t.Timeout(c.call()), r.ToolTimeout)
	}
	return r.ToolTimeout
}

func (r *runner) outOfTime(ctx context.Context, patience time.Duration) result {
	if ctx.Err() == context.DeadlineExceeded && r.ctx.Err() == nil {
		return failure(fmt.Sprintf("the tool did not answer within %s", patience))
	}
	return failure("the call was cancelled")
}

// callTool calls the tool. A panic is an error.
func (r *runner) callTool(ctx context.Context, c *call, emit func(event.Event) bool) (res result) {
	defer func() {
		if p := recover(); p != nil {
			r.Logger.Error("a tool panicked", "tool", c.name, "call", c.id, "run", r.RunID,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			res = failure("the tool failed unexpectedly")
		}
	}()
	in := c.call()
	var out tool.Result
	var err error
	if s, ok := c.tool.(tool.Streamer); ok {
		out, err = s.Stream(ctx, in, emit)
	} else {
		out, err = c.tool.Call(ctx, in)
	}
	switch {
	case errors.Is(err, tool.ErrPaused) && r.Journal != nil:
		return result{paused: true}
	case errors.Is(err, tool.ErrPaused):
		return failure("this call waits for the user, and nobody can be asked here")
	case err != nil:
		return failure(tool.Describe(ctx, r.Logger, in, err))
	}
	return result{Result: out}
}
