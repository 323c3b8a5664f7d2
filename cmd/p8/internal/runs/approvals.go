package runs

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

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// Approvals is p8 approvals.
type Approvals struct {
	List    approvalsListCmd `cmd:"" help:"List approvals, the oldest first." example:"p8 approvals list"`
	Show    approvalsShowCmd `cmd:"" help:"Show one approval." example:"p8 approvals show APPROVAL"`
	Approve approveCmd       `cmd:"" help:"Approve, or give the requested data; the run continues." example:"p8 approvals approve APPROVAL --comment \"go on\""`
	Deny    denyCmd          `cmd:"" help:"Deny; the run continues, and the model learns that you denied." example:"p8 approvals deny APPROVAL --comment \"not today\""`
}

type approvalsListCmd struct {
	command.Caller
	peer.Elsewhere
	Status  string `default:"open" help:"open, accepted, declined, cancelled, expired or all (${default})."`
	Session string `short:"s" help:"Only approvals of this session."`
	Limit   int    `short:"n" default:"50" help:"Maximum number of approvals (${default})."`
	JSON    bool   `help:"Print JSON."`
}

var requestStatuses = []string{"all", store.RequestOpen, store.RequestAccepted, store.RequestDeclined, store.RequestCancelled, store.RequestExpired}

// Run prints a table, or JSON. It works while a server has the database.
func (c *approvalsListCmd) Run(a *command.App) error {
	if !slices.Contains(requestStatuses, c.Status) {
		return command.Usage("--status: %q is no state of an approval: give one of %s", c.Status, strings.Join(requestStatuses, ", "))
	}
	if c.Limit < 1 || c.Limit > 500 {
		return command.Usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	f := store.RequestFilter{Status: c.Status, SessionID: c.Session, Limit: c.Limit}
	if c.Status == "all" {
		f.Status = ""
	}
	list := []store.RunRequest{}
	err := peer.Read(a, c.Caller, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) error {
		switch {
		case r != nil:
			q := url.Values{"limit": {strconv.Itoa(f.Limit)}}
			peer.SetNonEmpty(q, "status", f.Status, "session_id", f.SessionID)
			return r.Do(ctx, http.MethodGet, "approvals", q, nil, &list)
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
		return show.JSON(a.Stdout, list)
	case len(list) == 0 && c.Status == store.RequestOpen && c.Session == "":
		a.Say("there are no open approvals")
		return nil
	case len(list) == 0:
		a.SayEmpty("approvals", f.Status != "" || c.Session != "", "a run asks for one before a call that a document marks with approval")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tKIND\tAGENT\tSTATUS\tASKED\tQUESTION")
	for _, q := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", q.ID, q.Kind, show.OneLine(q.AgentPath), q.Status, show.Local(q.CreatedAt), show.OneLine(q.Message))
	}
	return w.Flush()
}

type approvalsShowCmd struct {
	ID string `arg:"" name:"id" help:"Id of the approval."`
	command.Caller
	peer.Elsewhere
	JSON bool `help:"Print JSON."`
}

// Run prints all fields of the question, with the schema of its answer.
func (c *approvalsShowCmd) Run(a *command.App) error {
	var q store.RunRequest
	err := peer.Read(a, c.Caller, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) (err error) {
		switch {
		case r != nil:
			return r.Do(ctx, http.MethodGet, "approvals/"+url.PathEscape(c.ID), nil, nil, &q)
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
		return show.JSON(a.Stdout, q)
	}
	showRequest(a.Stdout, q)
	return nil
}

func unknownRequest(id string) error {
	return fmt.Errorf("there is no approval %q for this user: `p8 approvals list --status all` shows those there are", show.OneLine(id))
}

// showRequest prints a question for a person.
func showRequest(w io.Writer, q store.RunRequest) {
	fmt.Fprintf(w, "%s\n\n", show.Visible(q.Message))
	f := show.Fields{W: w, Width: 10}
	f.Line("id", q.ID)
	f.Line("kind", q.Kind)
	f.Line("agent", q.AgentPath)
	f.Line("tool", q.ToolName)
	f.Whole("arguments", string(q.Arguments))
	f.Whole("schema", string(q.Schema))
	f.Line("session", q.SessionID)
	f.Line("run", q.RunID)
	f.Time("asked", q.CreatedAt)
	f.Line("status", q.Status)
	if q.Status == store.RequestOpen {
		f.Time("expires", q.ExpiresAt)
		return
	}
	f.Time("decided", q.DecidedAt)
	f.Line("by", q.DecidedBy)
	f.Line("via", q.DecidedVia)
	f.Whole("content", string(q.Content))
	f.Line("comment", q.Comment)
}

// verdict has the flags of both decisions.
type verdict struct {
	ID string `arg:"" name:"id" help:"Id of the approval."`
	command.Caller
	peer.Elsewhere
	Comment string `help:"Comment for the model and the record."`
	JSON    bool   `help:"Print every event of the run as a line of JSON."`
}

type approveCmd struct {
	verdict
	Content string `help:"Requested data, as a JSON object." placeholder:"JSON"`
}

// Run approves.
func (c *approveCmd) Run(a *command.App) error {
	d := store.Decision{Status: store.RequestAccepted, Comment: c.Comment, Via: "cli"}
	if c.Content != "" {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(c.Content), &object) != nil || object == nil {
			return command.Usage(`--content is no JSON object: give one such as '{"answer":"yes"}', as p8 approvals show %s says`, show.OneLine(c.ID))
		}
		d.Content = json.RawMessage(c.Content)
	}
	return decide(a, c.verdict, d)
}

type denyCmd struct{ verdict }

// Run denies.
func (c *denyCmd) Run(a *command.App) error {
	return decide(a, c.verdict, store.Decision{Status: store.RequestDeclined, Comment: c.Comment, Via: "cli"})
}

// decide answers a question where the data is. A server resumes the run; without one, it
// resumes in this process.
func decide(a *command.App, c verdict, d store.Decision) error {
	return turns.Act(a, c.Caller, c.Elsewhere, c.JSON, func(ctx context.Context, r *peer.Server) error {
		body := map[string]any{"decision": map[string]string{store.RequestAccepted: "approve", store.RequestDeclined: "deny"}[d.Status], "comment": d.Comment}
		if d.Content != nil {
			body["content"] = d.Content
		}
		var out struct {
			store.RunRequest
			RunStatus string `json:"run_status"`
		}
		if err := r.Do(ctx, http.MethodPost, "approvals/"+url.PathEscape(c.ID), nil, body, &out); err != nil {
			return err
		}
		decided(a, out.RunRequest, out.RunStatus)
		return nil
	}, func(t *turns.Runner) error {
		asked, turn, err := t.Chat.Decide(t.Ctx, c.ID, d)
		var wrong *chat.InputError
		switch {
		case errors.Is(err, store.ErrNotFound):
			return unknownRequest(c.ID)
		case errors.As(err, &wrong) && len(d.Content) == 0:
			return fmt.Errorf("the question asks for data: give it with --content, as p8 approvals show %s says", show.OneLine(c.ID))
		case err != nil:
			return turns.Explain(t.Parts, err)
		case turn == nil:
			decided(a, asked, store.RunWaiting)
			return nil
		}
		decided(a, asked, store.RunRunning)
		return t.Follow(turn)
	})
}

// decided prints the decision and the status of the run.
func decided(a *command.App, q store.RunRequest, status string) {
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
	a.Say("%s: %s; %s", what, show.OneLine(q.Message), next)
}
