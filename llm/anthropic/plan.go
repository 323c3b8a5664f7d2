package anthropic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/llm"
)

// settingDropped is the code of warnings about settings that were left out or
// changed.
const settingDropped = "setting_dropped"

// plan holds a request's settings in the model's dialect, and the warnings about
// settings that it does not support.
type plan struct {
	maxTokens   int
	temperature *float64
	topP        *float64
	stop        []string
	thinking    string // the type, "" to leave the field out
	budget      int    // of tokens, with the type enabled
	effort      string
	tools       []llm.ToolSpec
	choice      string // of tools, "" for the model's own
	toolName    string // with the choice "tool"
	serial      bool   // at most one call a response
	ttl         string // of cached beginnings: "" for none, 5m or 1h
	thoughts    bool   // earlier reasoning is sent back
	silent      bool   // the setting of how reasoning is shown is left out
	warnings    []string
}

// planOf returns the plan of a request. thoughts allows sending earlier reasoning back.
func planOf(model string, req *llm.Request, d *dialect, thoughts bool) plan {
	s := &req.Settings
	p := plan{maxTokens: s.MaxTokens, thoughts: thoughts, silent: d.silent}
	if p.maxTokens <= 0 {
		p.maxTokens = d.usual
	}
	p.think(model, req, d)
	if s.MaxTokens > 0 && (p.thinking == "adaptive" || d.off == offNever) {
		p.maxTokens = s.Limit(true)
	}
	if d.limit > 0 && p.maxTokens > d.limit {
		if s.MaxTokens > d.limit {
			p.warn("max_tokens is %d, as the model takes no more", d.limit)
		}
		p.maxTokens = d.limit
		p.budget = min(p.budget, d.limit/2)
	}
	p.sample(s, d)
	for _, stop := range s.Stop {
		if strings.TrimSpace(stop) == "" {
			p.warn("a stop sequence of nothing but white space is left out, as the model takes none")
			continue
		}
		p.stop = append(p.stop, stop)
	}
	p.choose(req, d)
	for _, name := range s.Beyond(takes) {
		p.warn("%s is left out, as the model takes none", name)
	}
	switch s.PromptCache {
	case "", "5m":
		p.ttl = "5m"
	case "1h":
		p.ttl = "1h"
	}
	return p
}

func (p *plan) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// budgetOf returns the budget of an effort, 0 for an unknown effort.
func budgetOf(effort string) int {
	switch effort {
	case "minimal":
		return 1024
	case "low":
		return 2048
	case "medium":
		return 8192
	case "high":
		return 16384
	}
	return 0
}

// think sets the reasoning in the model's dialect.
func (p *plan) think(model string, req *llm.Request, d *dialect) {
	effort := req.Settings.ReasoningEffort
	switch {
	case effort == "":
		if d.off != "" {
			// The model reasons by default; with the field, it shows its reasoning.
			p.thinking = "adaptive"
		}
	case effort == "none":
		p.thinkNot(d)
	case budgetOf(effort) == 0:
		p.warn("reasoning_effort %q is left out: it is none of none, minimal, low, medium and high", effort)
	case d.thinking == never:
		p.warn("reasoning_effort is left out, as the model does not think")
	case d.thinking == adaptive:
		p.thinking, p.effort = "adaptive", effort
		if effort == "minimal" {
			p.effort = "low"
		}
	case !p.thoughts || !beganWithThought(req.Messages, model):
		p.warn("reasoning_effort is left out for this step, as the one before it came without the model's own thoughts")
	default:
		// The budget is a part of max_tokens, so it is added to the requested limit.
		p.thinking, p.budget = "enabled", budgetOf(effort)
		p.maxTokens += p.budget
	}
}

// thinkNot sets the effort none.
func (p *plan) thinkNot(d *dialect) {
	switch d.off {
	case offDisabled, offBetweenTools:
		p.thinking = d.off
	case offNever:
		p.effort = "low"
		p.warn("reasoning_effort is low, as the model cannot be kept from thinking")
	}
}

// sample sets temperature and top_p.
func (p *plan) sample(s *llm.Settings, d *dialect) {
	thinks := p.thinking == "enabled" || p.thinking == "adaptive"
	switch t := s.Temperature; {
	case t == nil:
	case d.fixedSampling || thinks:
		// 1 is the model's default.
		if *t != 1 && !s.DefaultTemperature {
			p.warn("temperature is left out, as the model %s", takesNone(thinks && !d.fixedSampling))
		}
	case *t > 1:
		p.temperature = ptr(1.0)
		p.warn("temperature is 1, as the model takes no more")
	default:
		p.temperature = ptr(max(*t, 0))
	}
	switch {
	case s.TopP == nil:
	case d.fixedSampling || thinks:
		p.warn("top_p is left out, as the model %s", takesNone(thinks && !d.fixedSampling))
	case p.temperature != nil && !s.DefaultTemperature:
		p.warn("top_p is left out, as the model takes it or a temperature")
	default:
		// The temperature is only a default, but the request sets top_p.
		p.temperature, p.topP = nil, s.TopP
	}
}

func takesNone(thinks bool) string {
	if thinks {
		return "takes none while it thinks"
	}
	return "takes none"
}

func ptr(f float64) *float64 { return &f }

// choose sets the tools and their choice. A model that reasons with a budget, or by
// default since 5.5, cannot be forced to call a tool.
func (p *plan) choose(req *llm.Request, d *dialect) {
	p.tools = req.Tools
	switch {
	case len(req.Tools) == 0:
		if p.tools = pastTools(req.Messages); len(p.tools) > 0 {
			p.choice = "none"
		}
	case req.ToolChoice == "none":
		p.choice = "none"
	case req.ToolChoice == "required" && (d.unforced || p.thinking == "enabled"):
		p.warn("the model decides itself whether to call a tool: it cannot be forced to while it thinks")
	case req.ToolChoice == "required" && req.ToolName != "":
		p.choice, p.toolName = "tool", req.ToolName
	case req.ToolChoice == "required":
		p.choice = "any"
	}
	if p.serial = req.Settings.SerialCalls && len(req.Tools) > 0 && p.choice != "none"; p.serial && p.choice == "" {
		p.choice = "auto"
	}
}

// pastTools returns the tools that earlier turns called, by name alone. The API refuses
// a conversation with calls that declares no tools, so a request without tools declares
// these and forbids calls.
func pastTools(messages []llm.Message) []llm.ToolSpec {
	var past []llm.ToolSpec
	for i := range messages {
		for _, c := range messages[i].ToolCalls {
			name := llm.SafeName(c.Name)
			if !slices.ContainsFunc(past, func(t llm.ToolSpec) bool { return t.Name == name }) {
				past = append(past, llm.ToolSpec{Name: name})
			}
		}
	}
	return past
}

// beganWithThought reports whether the current tool loop, if any, began with the model's
// own reasoning, as a budget requires.
func beganWithThought(messages []llm.Message, model string) bool {
	last := len(messages) - 1
	for last >= 0 && messages[last].Role != llm.User {
		last--
	}
	for i := last + 1; i < len(messages); i++ {
		if m := &messages[i]; m.Role == llm.Assistant && len(m.ToolCalls) > 0 {
			return slices.ContainsFunc(m.Reasoning, func(r llm.Reasoning) bool { return sendable(&r, model) })
		}
	}
	return true
}
