package chat

import (
	"cmp"
	"context"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// equip gives the turn its agent, with model and tools.
func (s *Service) equip(ctx context.Context, j *job, name string) (err error) {
	if j.agent, err = s.findAgent(ctx, j, name); err != nil {
		return err
	}
	if j.script = s.o.Scripts[j.agent.Name]; j.req.Document != nil {
		j.script = nil
	}
	if j.script != nil {
		j.name, j.modelName = j.agent.Name, j.agent.Name
		j.who = j.who.Child(j.name, j.asked)
		return nil
	}
	j.agent = j.agent.WithOutput(j.req.ResponseFormat)
	j.warnings, j.absent, j.chainedMissing = nil, nil, ""
	if err := s.findModel(j, j.asked); err != nil {
		return err
	}
	s.findTools(ctx, j)
	if err := addClientTools(j); err != nil {
		return err
	}
	j.name = j.agent.Name
	j.who = j.who.Child(j.name, j.asked)
	return nil
}

// input is the user's message.
func input(req Request) (string, error) {
	text := req.Input
	if req.Regenerate || len(req.Results) > 0 && text == "" && len(req.Parts) == 0 {
		return "", nil // it is stored, or comes with the history
	}
	if req.Query != nil {
		if strings.TrimSpace(req.Query.Query) == "" {
			return "", &InputError{"query", "query.query is empty: ask something"}
		}
		prompt, err := req.Query.Prompt()
		if err != nil {
			return "", &InputError{"query", "query." + err.Error()}
		}
		text = prompt
	}
	if strings.TrimSpace(text) == "" && len(req.Parts) == 0 {
		return "", &InputError{"input", "the message is empty: write something"}
	}
	return text, nil
}

// firstAgent is the one that the request names, nil where it cannot be found: what is
// wrong is said when it is needed.
func (s *Service) firstAgent(ctx context.Context, j *job) *agent.Agent {
	name := cmp.Or(j.req.Agent, j.who.AgentSchemaURI, DefaultAgent)
	if j.auto = j.auto || s.leftToUs(ctx, j, name); j.auto && j.before == nil {
		name = DefaultAgent // who answers is not known yet; most agents want the same of a session
	}
	a, err := s.findAgent(ctx, j, name)
	if err != nil {
		return nil
	}
	j.first.name, j.first.agent = name, a
	return a
}

func (s *Service) findAgent(ctx context.Context, j *job, name string) (*agent.Agent, error) {
	switch {
	case j.first.agent != nil && name == j.first.name:
		return j.first.agent, nil
	case j.req.Document != nil:
		return agent.Compile(j.req.Document)
	}
	return s.o.Catalog.Agent(ctx, name)
}

// findTools picks the declared tools; one that is not here is a warning of the
// run. The model hears of those whose server is down: its document may speak of
// them.
func (s *Service) findTools(ctx context.Context, j *job) {
	var found tool.Resolved
	if s.o.Tools != nil {
		found = s.o.Tools.Resolve(ctx, j.agent)
	} else {
		for _, ref := range j.agent.Tools {
			found.Missing = append(found.Missing, tool.Missing{Ref: ref})
		}
	}
	j.tools, j.chained = tellAgents(j.agent, found.Tools), found.Chained
	if j.auto {
		j.tools = tellRouted(j.tools)
	}
	if found.ChainedMissing.Ref.Name != "" {
		j.chainedMissing = found.ChainedMissing.Message()
	}
	for _, m := range found.Missing {
		if m.Reason != "" && len(m.Near) == 0 { // not a mistake of the document
			j.absent = append(j.absent, m.Message())
		}
		j.warnings = append(j.warnings, event.WarningData{Code: "tool_unavailable", Message: m.Message()})
	}
}
