// Package usage serves what the models consumed: an admin sees the tenant's, others their own.
package usage

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/store"
)

// Store has the messages. Implemented by *store.Store.
type Store interface {
	Usage(ctx context.Context, f store.UsageFilter) (store.Usage, error)
}

// Window is the time before now that a report is about by default.
const Window = 30 * 24 * time.Hour

type handlers struct {
	api   *rest.API
	store Store
	now   func() time.Time
}

// Routes adds GET /usage.
func Routes(api *rest.API, s Store, now func() time.Time) {
	h := &handlers{api, s, now}
	rest.Register(api, rest.Resource("usage", http.MethodGet, "/usage", "Tokens, money and time: an admin's tenant, or your own", "usage"), h.report)
}

type input struct {
	By      string `query:"by" maxLength:"64" doc:"Dimensions of the rows, separated by commas: agent, model, user, day (UTC), session. By default agent,model."`
	Since   string `query:"since" maxLength:"64" doc:"Only turns from this time on: a time with its offset, or a day. By default 30 days ago."`
	Until   string `query:"until" maxLength:"64" doc:"Only turns before this time."`
	User    string `query:"user" maxLength:"128" doc:"Only turns of this user, by e-mail address or id."`
	Agent   string `query:"agent" maxLength:"255" doc:"Only turns of this agent."`
	Model   string `query:"model" maxLength:"255" doc:"Only turns of this model, as provider:model."`
	Session string `query:"session_id" maxLength:"128" doc:"Only turns of this session."`
	Limit   int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"How many rows to return. The total is of all."`
}

func (h *handlers) report(ctx context.Context, in *input) (*rest.Body[store.Usage], error) {
	if h.store == nil {
		return nil, h.api.Missing("usage")
	}
	f := store.UsageFilter{User: in.User, Agent: in.Agent, Model: in.Model, Session: in.Session, Limit: in.Limit, Since: h.now().Add(-Window).UTC().Truncate(time.Second)}
	if strings.Contains(f.User, "@") {
		f.User = identity.UserID(f.User)
	}
	for by := range strings.SplitSeq(in.By, ",") {
		if by = strings.TrimSpace(by); by != "" {
			f.By = append(f.By, by)
		}
	}
	var p *problem.Problem
	if in.Since != "" {
		if f.Since, p = field.Time("since", in.Since); p != nil {
			return nil, p
		}
	}
	if f.Until, p = field.Time("until", in.Until); p != nil {
		return nil, p
	}
	u, err := h.store.Usage(ctx, f)
	if err != nil {
		return nil, h.api.About(ctx, "usage", err)
	}
	return &rest.Body[store.Usage]{Body: u}, nil
}
