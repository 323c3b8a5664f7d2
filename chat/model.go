package chat

import (
	"cmp"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// ModelName is the model that a turn uses: the one that the document insists
// on, else the request's, else the document's, else the default.
func ModelName(a *agent.Agent, request, fallback string) string {
	return cmp.Or(a.OverrideModel, request, a.Model, fallback)
}

// findModel finds the model of the turn and, behind it, those that take over. One
// of these that is not there is a warning.
func (s *Service) findModel(j *job, asked string) error {
	model, err := s.o.Models.Resolve(ModelName(j.agent, asked, s.o.DefaultModel))
	if err != nil {
		return err
	}
	j.model, j.modelName = model, model.Name()
	names := s.fallback(j.agent)
	if len(names) == 0 {
		return nil
	}
	models, known := []llm.Model{model}, map[string]bool{j.modelName: true}
	for _, name := range names {
		m, err := s.o.Models.Resolve(name)
		if err != nil {
			j.warnings = append(j.warnings, event.WarningData{
				Code:    "fallback_unavailable",
				Message: fmt.Sprintf("the model %s cannot take over for %s: %s", name, j.modelName, Describe(err).Message),
			})
			continue
		}
		if !known[m.Name()] {
			known[m.Name()] = true
			models = append(models, m)
		}
	}
	if len(models) > 1 {
		j.model = llm.NewFallback(llm.FallbackOptions{Models: models, Logger: s.o.Logger})
	}
	return nil
}

// fallback names the models that take over: the document's, else the settings'. A
// document that insists on its model is not given another one by the settings.
func (s *Service) fallback(a *agent.Agent) []string {
	if len(a.Fallback) > 0 || a.OverrideModel != "" {
		return a.Fallback
	}
	return s.o.Fallback
}
