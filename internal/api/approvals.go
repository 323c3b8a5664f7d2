package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/store"
)

type (
	listApprovalsInput struct {
		Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor    string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		Status    string `query:"status" enum:"open,accepted,declined,cancelled,expired" doc:"Only requests in this state; all without it."`
		RunID     string `query:"run_id" maxLength:"128" doc:"Only requests of this run."`
		SessionID string `query:"session_id" maxLength:"128" doc:"Only requests of this session."`
	}
	approvalInput struct {
		ID string `path:"id" maxLength:"128" doc:"The request's id."`
	}
	// decisionBody is the body of POST /approvals/{id}.
	decisionBody struct {
		Decision string          `json:"decision,omitempty" enum:"approve,deny" doc:"For an approval: approve or deny."`
		Action   string          `json:"action,omitempty" enum:"accept,decline,cancel" doc:"In place of decision, as MCP has it."`
		Content  json.RawMessage `json:"content,omitempty" doc:"The data that were asked for, as response_schema says."`
		Comment  string          `json:"comment,omitempty" doc:"What the model and the record are told about the decision."`
	}
	// decidedRequest is the request as decided, and what became of its run.
	decidedRequest struct {
		store.RunRequest
		RunStatus string `json:"run_status,omitempty"`
	}
)

func (*decisionBody) example() string { return `{"decision":"approve"}` }

// maxComment bounds what is said about a decision, in bytes.
const maxComment = 4 << 10

func (h *Handler) approvalRoutes(api huma.API) {
	huma.Register(api, resource("list-approvals", http.MethodGet, "/approvals", "What runs ask their user, the oldest first", "approvals"), h.listApprovals)
	huma.Register(api, resource("get-approval", http.MethodGet, "/approvals/{id}", "One request", "approvals"), h.showApproval)
	h.mux.HandleFunc("POST /approvals/{id}", h.decideApproval)
	op := resource("decide-approval", http.MethodPost, "/approvals/{id}", "Answer a request", "approvals")
	op.Description = "The run goes on when none of its requests is open any more, whether or not anybody reads it."
	op.Parameters = append(op.Parameters, text("id", "path", "The request's id."))
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[decisionBody](), true, "decision")
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	op.Responses = map[string]*huma.Response{
		"200": {Description: "The request as decided, with run_id and run_status."}, "404": {Description: "No such request."},
		"409": {Description: "It was decided already."}, "422": {Description: "The content does not fit response_schema."},
		"default": {Description: "A problem document (RFC 9457)."},
	}
	api.OpenAPI().AddOperation(&op)
}

func (h *Handler) listApprovals(ctx context.Context, in *listApprovalsInput) (*list[store.RunRequest], error) {
	rows, next, err := h.o.Chat.Requests(ctx, store.RequestFilter{
		RunID: in.RunID, SessionID: in.SessionID, Status: in.Status, Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return nil, h.restFailure(ctx, "request", err)
	}
	return newList(rows, query("status", in.Status, "run_id", in.RunID, "session_id", in.SessionID), in.Limit, next), nil
}

func (h *Handler) showApproval(ctx context.Context, in *approvalInput) (*body[store.RunRequest], error) {
	asked, err := h.o.Chat.Request(ctx, in.ID)
	if err != nil {
		return nil, h.restFailure(ctx, "request", err)
	}
	return &body[store.RunRequest]{asked}, nil
}

// decideApproval is POST /approvals/{id}.
func (h *Handler) decideApproval(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	var b decisionBody
	f := h.readJSON(w, r, &b)
	var d store.Decision
	if f == nil {
		d, f = b.decision()
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	asked, turn, err := h.o.Chat.Decide(ctx, r.PathValue("id"), d)
	if err != nil {
		h.fail(w, r, h.restFailure(ctx, "request", err))
		return
	}
	out := decidedRequest{RunRequest: asked, RunStatus: store.RunWaiting}
	if turn != nil {
		w.Header().Set(headerRunID, turn.RunID)
		out.RunStatus = store.RunRunning
	}
	if _, run, err := h.o.Chat.Open(ctx, asked.RunID); err == nil {
		out.RunStatus = run.Status
	}
	writeJSON(w, http.StatusOK, out)
}

// decision is what the body says.
func (b *decisionBody) decision() (store.Decision, *failure) {
	d := store.Decision{Comment: b.Comment, Content: b.Content, Via: "http"}
	byDecision := map[string]string{"": "", "approve": store.RequestAccepted, "deny": store.RequestDeclined}
	byAction := map[string]string{"": "", "accept": store.RequestAccepted, "decline": store.RequestDeclined, "cancel": store.RequestCancelled}
	decision, knownDecision := byDecision[b.Decision]
	action, knownAction := byAction[b.Action]
	switch {
	case !knownDecision:
		return d, invalid("decision", "decision is %q; it is approve or deny", cut(b.Decision))
	case !knownAction:
		return d, invalid("action", "action is %q; it is accept, decline or cancel", cut(b.Action))
	case (decision == "") == (action == ""):
		return d, invalid("decision", `say either decision (approve, deny) or action (accept, decline, cancel), as in {"decision":"approve"}`)
	case len(b.Content) > 0 && string(b.Content) != "null" && !isObject(b.Content):
		return d, invalid("content", "content must be an object, as the request's response_schema says")
	case len(b.Comment) > maxComment:
		return d, invalid("comment", "comment is longer than %d bytes", maxComment)
	}
	if d.Status = decision + action; d.Status != store.RequestAccepted || string(d.Content) == "null" {
		d.Content = nil
	}
	return d, nil
}
