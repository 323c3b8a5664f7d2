package builtin

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// The bounds of an observation.
const (
	maxList        = 100
	maxSessionName = 200
)

// observe reads the fields of an observation and skips null and unknown ones. The
// error names every wrong field and what it accepts.
func observe(fields map[string]json.RawMessage) (*event.MetadataData, error) {
	o := observer{fields: fields}
	m := &event.MetadataData{
		Confidence:        o.number("confidence", 1),
		Sources:           o.list("sources"),
		References:        o.list("references"),
		Flags:             o.list("flags"),
		RiskLevel:         o.text("risk_level"),
		RiskReasoning:     o.text("risk_reasoning"),
		RecommendedAction: o.text("recommended_action"),
		AgentSchema:       o.text("agent_schema"),
		SessionName:       o.sessionName(),
		Extra:             o.object("extra"),
	}
	if score := o.number("risk_score", 100); score != nil {
		if *score != math.Trunc(*score) {
			o.wrong("risk_score", "a whole number from 0 to 100")
		}
		m.RiskScore = new(int(*score))
	}
	if levels := []string{"low", "moderate", "high", "critical"}; m.RiskLevel != "" && !slices.Contains(levels, m.RiskLevel) {
		o.wrong("risk_level", strings.Join(levels, ", "))
	}
	if len(o.problems) > 0 {
		return nil, &tool.Error{Message: strings.Join(o.problems, "; ")}
	}
	return m, nil
}

// observer reads fields and collects their problems.
type observer struct {
	fields   map[string]json.RawMessage
	problems []string
}

func (o *observer) wrong(name, takes string) {
	o.problems = append(o.problems, fmt.Sprintf("%s is %s; it takes %s", name, tool.Cut(string(o.fields[name]), 80), takes))
}

// read decodes a field; false if it is absent, null or wrong.
func (o *observer) read(name, takes string, into any) bool {
	raw, ok := o.fields[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if json.Unmarshal(raw, into) != nil {
		o.wrong(name, takes)
		return false
	}
	return true
}

func (o *observer) number(name string, most float64) *float64 {
	takes := fmt.Sprintf("a number from 0 to %g", most)
	var n float64
	if !o.read(name, takes, &n) {
		return nil
	}
	if n < 0 || n > most {
		o.wrong(name, takes)
		return nil
	}
	return &n
}

func (o *observer) text(name string) string {
	var s string
	o.read(name, "a string", &s)
	return s
}

func (o *observer) list(name string) []string {
	takes := fmt.Sprintf("a list of at most %d strings", maxList)
	var list []*string
	if !o.read(name, takes, &list) {
		return nil
	}
	if len(list) > maxList || slices.Contains(list, nil) {
		o.wrong(name, takes)
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = *s
	}
	return out
}

func (o *observer) object(name string) map[string]any {
	var m map[string]any
	o.read(name, "a JSON object", &m)
	return m
}

// sessionName reads one line of text.
func (o *observer) sessionName() string {
	const name = "session_name"
	s := strings.Join(strings.Fields(o.text(name)), " ")
	if utf8.RuneCountInString(s) > maxSessionName || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		o.wrong(name, fmt.Sprintf("at most %d printable characters", maxSessionName))
	}
	return s
}
