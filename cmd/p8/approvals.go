package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

type approvalsCmd struct {
	List    approvalsListCmd `cmd:"" help:"List what runs ask their user, the oldest first."`
	Show    approvalsShowCmd `cmd:"" help:"Show one question, and what became of it."`
	Approve approveCmd       `cmd:"" help:"Say yes, or give the data that were asked for; the run goes on."`
	Deny    denyCmd          `cmd:"" help:"Say no; the run goes on, and the model hears of it."`
}

type approvalsListCmd struct {
	caller
	elsewhere
	Status  string `default:"open" help:"open, accepted, declined, cancelled, expired or all (${default})."`
	Session string `short:"s" help:"Only those of this session."`
	Limit   int    `short:"n" default:"50" help:"How many (${default})."`
	JSON    bool   `help:"Print JSON."`
}

var requestStatuses = []string{"all", store.RequestOpen, store.RequestAccepted, store.RequestDeclined, store.RequestCancelled, store.RequestExpired}

// Run prints a table, or JSON; beside a running server too.
func (c *approvalsListCmd) Run(a *app) error {
	if !slices.Contains(requestStatuses, c.Status) {
		return usage("--status: %q is no state of a question: give one of %s", c.Status, strings.Join(requestStatuses, ", "))
	}
	if c.Limit < 1 || c.Limit > 500 {
		return usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	f := store.RequestFilter{Status: c.Status, SessionID: c.Session, Limit: c.Limit}
	if c.Status == "all" {
		f.Status = ""
	}
	list := []store.RunRequest{}
	err := a.read(c.caller, c.elsewhere, func(ctx context.Context, s *store.Store, r *peer) error {
		switch {
		case r != nil:
			q := url.Values{"limit": {strconv.Itoa(f.Limit)}}
			setNonEmpty(q, "status", f.Status, "session_id", f.SessionID)
			return r.do(ctx, http.MethodGet, "approvals", q, nil, &list)
		case s == nil:
			return nil
		}
		found, _, err := s.Requests(ctx, f)
		list = append(list, found...)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return writeJSON(a.stdout, list)
	case len(list) == 0 && c.Status == store.RequestOpen:
		a.say("nothing waits for an answer")
		return nil
	case len(list) == 0:
		a.say("there is no such question")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tKIND\tAGENT\tSTATUS\tASKED\tQUESTION")
	for _, q := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", q.ID, q.Kind, oneLine(q.AgentPath), q.Status, local(q.CreatedAt), oneLine(q.Message))
	}
	return w.Flush()
}

func setNonEmpty(q url.Values, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
}

type approvalsShowCmd struct {
	ID string `arg:"" name:"id" help:"The question's id."`
	caller
	elsewhere
	JSON bool `help:"Print JSON."`
}

// Run prints the question whole, with what an answer looks like.
func (c *approvalsShowCmd) Run(a *app) error {
	var q store.RunRequest
	err := a.read(c.caller, c.elsewhere, func(ctx context.Context, s *store.Store, r *peer) (err error) {
		switch {
		case r != nil:
			return r.do(ctx, http.MethodGet, "approvals/"+url.PathEscape(c.ID), nil, nil, &q)
		case s == nil:
			return unknownRequest(c.ID)
		}
		if q, err = s.Request(ctx, c.ID); errors.Is(err, store.ErrNotFound) {
			return unknownRequest(c.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(a.stdout, q)
	}
	showRequest(a.stdout, q)
	return nil
}

func unknownRequest(id string) error {
	return fmt.Errorf("there is no question %q for this user: `p8 approvals list --status all` shows those there are", oneLine(id))
}

// showRequest prints a question for a person.
func showRequest(w io.Writer, q store.RunRequest) {
	fmt.Fprintf(w, "%s\n\n", visible(q.Message))
	line := func(name, text string) {
		if text = oneLine(text); text != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, text)
		}
	}
	when := func(name string, t time.Time) {
		if !t.IsZero() {
			line(name, local(t))
		}
	}
	line("id", q.ID)
	line("kind", q.Kind)
	line("agent", q.AgentPath)
	line("tool", q.ToolName)
	whole := func(name string, raw json.RawMessage) {
		if len(raw) > 0 {
			fmt.Fprintf(w, "%-10s %s\n", name, visible(string(raw)))
		}
	}
	whole("arguments", q.Arguments)
	whole("schema", q.Schema)
	line("session", q.SessionID)
	line("run", q.RunID)
	when("asked", q.CreatedAt)
	line("status", q.Status)
	if q.Status == store.RequestOpen {
		when("expires", q.ExpiresAt)
		return
	}
	when("decided", q.DecidedAt)
	line("by", q.DecidedBy)
	line("via", q.DecidedVia)
	whole("content", q.Content)
	line("comment", q.Comment)
}

// verdict is what both decisions have in common.
type verdict struct {
	ID string `arg:"" name:"id" help:"The question's id."`
	caller
	elsewhere
	Comment string `help:"What the model and the record are told about it."`
	JSON    bool   `help:"Print every event of the run as a line of JSON."`
}

type approveCmd struct {
	verdict
	Content string `help:"The data that were asked for, as a JSON object." placeholder:"JSON"`
}

// Run says yes.
func (c *approveCmd) Run(a *app) error {
	d := store.Decision{Status: store.RequestAccepted, Comment: c.Comment, Via: "cli"}
	if c.Content != "" {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(c.Content), &object) != nil || object == nil {
			return usage(`--content is no JSON object: give one such as '{"answer":"yes"}', as p8 approvals show %s says`, oneLine(c.ID))
		}
		d.Content = json.RawMessage(c.Content)
	}
	return a.decide(c.verdict, d)
}

type denyCmd struct{ verdict }

// Run says no.
func (c *denyCmd) Run(a *app) error {
	return a.decide(c.verdict, store.Decision{Status: store.RequestDeclined, Comment: c.Comment, Via: "cli"})
}

// decide answers a question where its run is: a server goes on with the run by
// itself, else it goes on here.
func (a *app) decide(c verdict, d store.Decision) error {
	return a.act(c.caller, c.elsewhere, c.JSON, func(ctx context.Context, r *peer) error {
		body := map[string]any{"decision": map[string]string{store.RequestAccepted: "approve", store.RequestDeclined: "deny"}[d.Status], "comment": d.Comment}
		if d.Content != nil {
			body["content"] = d.Content
		}
		var out struct {
			store.RunRequest
			RunStatus string `json:"run_status"`
		}
		if err := r.do(ctx, http.MethodPost, "approvals/"+url.PathEscape(c.ID), nil, body, &out); err != nil {
			return err
		}
		a.decided(out.RunRequest, out.RunStatus)
		return nil
	}, func(t *talk) error {
		asked, turn, err := t.chat.Decide(t.ctx, c.ID, d)
		var wrong *chat.InputError
		switch {
		case errors.Is(err, store.ErrNotFound):
			return unknownRequest(c.ID)
		case errors.As(err, &wrong) && len(d.Content) == 0:
			return fmt.Errorf("the question asks for data: give it with --content, as p8 approvals show %s says", oneLine(c.ID))
		case err != nil:
			return t.explain(err)
		case turn == nil:
			a.decided(asked, store.RunWaiting)
			return nil
		}
		a.decided(asked, store.RunRunning)
		return t.follow(turn)
	})
}

// decided says what was decided, and what becomes of the run.
func (a *app) decided(q store.RunRequest, status string) {
	what := map[string]string{store.RequestAccepted: "approved", store.RequestDeclined: "denied"}[q.Status]
	if q.Kind == event.RequestElicitation && q.Status == store.RequestAccepted {
		what = "answered"
	}
	next := "its run is " + status
	switch status {
	case store.RunWaiting:
		next = "its run waits for other answers (p8 approvals list)"
	case store.RunRunning:
		next = "its run goes on"
	}
	a.say("%s: %s; %s", what, oneLine(q.Message), next)
}
