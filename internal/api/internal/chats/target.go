package chats

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/routing"
)

// target sets the request's agent or model from the body's model. The headers win over
// either; a name that is neither is an error all the same, so that no typo goes
// unnoticed. The name "auto" leaves the agent to the chat.
func (h *handlers) target(ctx context.Context, name string, req *chat.Request) *problem.Problem {
	if name == "" {
		return nil
	}
	id, err := identity.From(ctx)
	if err != nil {
		return h.api.Describe(ctx, err)
	}
	if name == routing.Auto {
		if id.AgentSchemaURI == "" {
			req.Agent = name
		}
		return nil
	}
	model, err := h.isModel(ctx, name)
	if err != nil {
		return h.api.Describe(ctx, err)
	}
	if model {
		if id.DefaultModel == "" {
			req.Model = name
		}
		return nil
	}
	if _, err := h.o.Catalog.Agent(ctx, name); err != nil {
		return h.unknownName(ctx, name, err)
	}
	if id.AgentSchemaURI == "" {
		req.Agent = name
	}
	return nil
}

// isModel reports whether a name is in the form of a model's. A bare one, such as
// gpt-4.1, is an agent's if a document has it; most clients send one with every
// request.
func (h *handlers) isModel(ctx context.Context, name string) (bool, error) {
	if strings.Contains(name, ":") {
		return true, nil
	}
	if !llm.IsBare(name) {
		return false, nil
	}
	known, err := h.o.Catalog.Has(ctx, name)
	return !known, err
}

// unknownName returns the problem of a name that is neither an agent's nor a model's. It
// suggests agents with similar names.
func (h *handlers) unknownName(ctx context.Context, name string, err error) *problem.Problem {
	var missing *catalog.NotFoundError
	if !errors.As(err, &missing) && !errors.As(err, new(*catalog.NameError)) {
		return h.api.Describe(ctx, err)
	}
	p := &problem.Problem{
		Status: http.StatusNotFound, Code: "model_not_found", Param: "model",
		Message: fmt.Sprintf("there is no agent %q, and a model is named provider:model; GET /v1/models lists both", web.Cut(name)),
	}
	if missing != nil && len(missing.Near) > 0 {
		p.Message += "; did you mean " + strings.Join(missing.Near, " or ") + "?"
	}
	return p
}
