package chats

import (
	"net/http"
	"slices"
	"strings"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/internal/api/internal/embeddings"
	"github.com/p8-org/p8/routing"
)

// model is an agent or a model in OpenAI's list. An agent also has the fields of its
// document that help to choose it.
type model struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	Kind        string `json:"kind"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
}

func (h *handlers) agentModel(e catalog.Entry) model {
	return model{
		ID: e.Name, Object: "model", Created: h.o.Started.Unix(), OwnedBy: "p8",
		Kind: "agent", Version: e.Version, Description: e.Description,
	}
}

func (h *handlers) plainModel(name string) model {
	provider, _, _ := strings.Cut(name, ":")
	return model{ID: name, Object: "model", Created: h.o.Started.Unix(), OwnedBy: provider, Kind: "model"}
}

// models returns every name that a body's model may have: the agents that the caller
// may use, "auto", the models, and the embedding model of POST /embeddings.
func (h *handlers) models(r *http.Request) ([]model, error) {
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
	if h.o.Embeddings != nil {
		m := h.plainModel(h.o.Embeddings.Name())
		m.Kind = "embedding"
		all = append(all, m)
	}
	return all, nil
}

// listModels serves GET /models.
func (h *handlers) listModels(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	all, err := h.models(r)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", all}, nil
}

// showModel serves GET /models/{id}; it finds an agent by any of its names.
func (h *handlers) showModel(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	id := r.PathValue("id")
	all, err := h.models(r)
	if err != nil {
		return 0, nil, err
	}
	is := func(m model) bool { return m.ID == id || m.Kind == "embedding" && embeddings.Names(h.o.Embeddings, id) }
	if i := slices.IndexFunc(all, is); i >= 0 {
		return http.StatusOK, all[i], nil
	}
	a, err := h.o.Catalog.Agent(r.Context(), id)
	if err != nil {
		return 0, nil, h.unknownName(r.Context(), id, err)
	}
	d := a.Document
	return http.StatusOK, h.agentModel(catalog.Entry{Name: d.Key(), Version: d.Version, Description: d.Summary()}), nil
}
