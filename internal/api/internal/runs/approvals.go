package runs

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
)

type (
	listApprovalsInput struct {
		Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor    string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		Status    string `query:"status" enum:"open,accepted,declined,cancelled,expired" doc:"Only requests in this state; all by default."`
		RunID     string `query:"run_id" maxLength:"128" doc:"Only requests of this run."`
		SessionID string `query:"session_id" maxLength:"128" doc:"Only requests of this session."`
	}
	approvalInput struct {
		ID string `path:"id" maxLength:"128" doc:"The request's id."`
	}
	// decisionBody is the body of POST /approvals/{id}.
	decisionBody struct {
		Decision string          `json:"decision,omitempty" enum:"approve,deny" doc:"For an approval: approve or deny."`
		Action   string          `json:"action,omitempty" enum:"accept,decline,cancel" doc:"The decision in MCP's terms, in place of decision."`
		Content  json.RawMessage `json:"content,omitempty" doc:"The requested data, which follow response_schema."`
		Comment  string          `json:"comment,omitempty" doc:"A comment on the decision, for the model and the record."`
	}
	// decidedRequest is a decided request, with the status of its run.
	decidedRequest struct {
		store.RunRequest
		RunStatus string `json:"run_status,omitempty"`
	}
)

func (*decisionBody) Example() string { return `{"decision":"approve"}` }

// maxComment bounds the comment on a decision, in bytes.
const maxComment = 4 << 10

func (h *handlers) approvalRoutes() {
	rest.Register(h.api, rest.Resource("list-approvals", http.MethodGet, "/approvals", "Requests of runs to their user, the oldest first", "approvals"), h.listApprovals)
	rest.Register(h.api, rest.Resource("get-approval", http.MethodGet, "/approvals/{id}", "One request", "approvals"), h.showApproval)
	op := rest.Resource("decide-approval", http.MethodPost, "/approvals/{id}", "Answer a request", "approvals")
	op.Description = "The run resumes when none of its requests is open, whether or not a client reads it."
	op.Parameters = append(op.Parameters, rest.Text("id", "path", "The request's id."))
	h.api.Sends(&op, "decision", decisionBody{})
	rest.Answers(&op, map[string]string{
		"200": "The decided request, with run_id and run_status.", "404": "No such request.",
		"409": "It is already decided.", "422": "The content does not fit response_schema.",
	})
	h.api.Route(op, h.decide)
}

func (h *handlers) listApprovals(ctx context.Context, in *listApprovalsInput) (*rest.List[store.RunRequest], error) {
	rows, next, err := h.o.Chat.Requests(ctx, store.RequestFilter{
		RunID: in.RunID, SessionID: in.SessionID, Status: in.Status, Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return nil, h.api.About(ctx, "request", err)
	}
	return rest.NewList(rows, rest.Query("status", in.Status, "run_id", in.RunID, "session_id", in.SessionID), in.Limit, next), nil
}

func (h *handlers) showApproval(ctx context.Context, in *approvalInput) (*rest.Body[store.RunRequest], error) {
	request, err := h.o.Chat.Request(ctx, in.ID)
	if err != nil {
		return nil, h.api.About(ctx, "request", err)
	}
	return &rest.Body[store.RunRequest]{Body: request}, nil
}

// decide is POST /approvals/{id}.
func (h *handlers) decide(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	var b decisionBody
	p := h.api.JSON(w, r, &b)
	var d store.Decision
	if p == nil {
		d, p = b.decision()
	}
	if p != nil {
		return 0, nil, p
	}
	request, turn, err := h.o.Chat.Decide(ctx, r.PathValue("id"), d)
	if err != nil {
		return 0, nil, h.api.About(ctx, "request", err)
	}
	out := decidedRequest{RunRequest: request, RunStatus: store.RunWaiting}
	if turn != nil {
		w.Header().Set(web.HeaderRunID, turn.RunID)
		out.RunStatus = store.RunRunning
	}
	if _, run, err := h.o.Chat.Open(ctx, request.RunID); err == nil {
		out.RunStatus = run.Status
	}
	return http.StatusOK, out, nil
}

// decision checks the body.
func (b *decisionBody) decision() (store.Decision, *problem.Problem) {
	d := store.Decision{Comment: b.Comment, Content: b.Content, Via: "http"}
	byDecision := map[string]string{"": "", "approve": store.RequestAccepted, "deny": store.RequestDeclined}
	byAction := map[string]string{"": "", "accept": store.RequestAccepted, "decline": store.RequestDeclined, "cancel": store.RequestCancelled}
	decision, knownDecision := byDecision[b.Decision]
	action, knownAction := byAction[b.Action]
	switch {
	case !knownDecision:
		return d, problem.Invalid("decision", "decision is %q; it is approve or deny", web.Cut(b.Decision))
	case !knownAction:
		return d, problem.Invalid("action", "action is %q; it is accept, decline or cancel", web.Cut(b.Action))
	case (decision == "") == (action == ""):
		return d, problem.Invalid("decision", `say either decision (approve, deny) or action (accept, decline, cancel), as in {"decision":"approve"}`)
	case len(b.Content) > 0 && string(b.Content) != "null" && !web.IsObject(b.Content):
		return d, problem.Invalid("content", "content must be an object, as the request's response_schema says")
	case len(b.Comment) > maxComment:
		return d, problem.Invalid("comment", "comment is longer than %d bytes", maxComment)
	}
	if d.Status = decision + action; d.Status != store.RequestAccepted || string(d.Content) == "null" {
		d.Content = nil
	}
	return d, nil
}
