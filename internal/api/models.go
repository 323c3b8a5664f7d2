package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/routing"
)

// model is an agent or a model in OpenAI's list. An agent also has the fields
// of its document that help to choose it.
type model struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	Kind        string `json:"kind"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
}

func (h *Handler) agentModel(e catalog.Entry) model {
	return model{
		ID: e.Name, Object: "model", Created: h.started.Unix(), OwnedBy: "p8",
		Kind: "agent", Version: e.Version, Description: e.Description,
	}
}

func (h *Handler) plainModel(name string) model {
	provider, _, _ := strings.Cut(name, ":")
	return model{ID: name, Object: "model", Created: h.started.Unix(), OwnedBy: provider, Kind: "model"}
}

// models are the agents that the caller may use, the name that leaves it to p8 which
// of them answers, then the models.
func (h *Handler) models(r *http.Request) ([]model, error) {
	entries, err := h.o.Catalog.List(r.Context(), "agent")
	if err != nil {
		return nil, err
	}
	all := make([]model, 0, len(entries))
	for _, e := range entries {
		if len(e.Problems) == 0 {
			all = append(all, h.agentModel(e))
		}
	}
	all = append(all, h.agentModel(catalog.Entry{Name: routing.Auto, Description: "The agent that fits the message, and stays until another one fits better."}))
	if h.o.Models != nil {
		for _, name := range h.o.Models(r.Context()) {
			all = append(all, h.plainModel(name))
		}
	}
	return all, nil
}

// listModels is GET /models: what the body's model may name.
func (h *Handler) listModels(w http.ResponseWriter, r *http.Request) {
	all, err := h.models(r)
	if err != nil {
		h.fail(w, r, h.describe(r.Context(), err))
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", all})
}

// showModel is GET /models/{id}; an agent is found by any of its names.
func (h *Handler) showModel(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	all, err := h.models(r)
	if err != nil {
		h.fail(w, r, h.describe(r.Context(), err))
		return
	}
	if i := slices.IndexFunc(all, func(m model) bool { return m.ID == id }); i >= 0 {
		writeJSON(w, http.StatusOK, all[i])
		return
	}
	a, err := h.o.Catalog.Agent(r.Context(), id)
	if err != nil {
		h.fail(w, r, h.unknownName(r.Context(), id, err))
		return
	}
	d := a.Document
	writeJSON(w, http.StatusOK, h.agentModel(catalog.Entry{Name: d.Key(), Version: d.Version, Description: d.Summary()}))
}
