package gemini

import (
	"slices"
	"strings"
)

// family holds the properties that follow from a model's name.
type family struct {
	// generation is 2 for gemini-2.5-pro, 0 if the name has none.
	generation int
	pro        bool
	// thoughtless models do not reason.
	thoughtless bool
	// threePro is the first Pro of the third generation, with only two levels of
	// reasoning.
	threePro bool
	// gemma models have no system instruction and read no documents.
	gemma bool
}

// familyOf reads a name. Everything else is learned from refusals.
func familyOf(model string) family {
	f := family{
		pro:         strings.Contains(model, "-pro"),
		thoughtless: hasPrefix(model, "gemini-1.", "gemini-2.0-", "gemma-2", "gemma-3", "learnlm") && !strings.Contains(model, "thinking"),
		threePro:    hasPrefix(model, "gemini-3-pro"),
		gemma:       hasPrefix(model, "gemma-2", "gemma-3"),
	}
	if rest, ok := strings.CutPrefix(model, "gemini-"); ok {
		for i := 0; i < len(rest) && i < 3 && rest[i] >= '0' && rest[i] <= '9'; i++ {
			f.generation = f.generation*10 + int(rest[i]-'0')
		}
	}
	return f
}

// levels reports whether reasoning is set by level; earlier models, and names without
// a generation, have a budget of tokens.
func (f family) levels() bool { return f.generation >= 3 }

// signed reports whether the model refuses a step whose first call has no
// signature.
func (f family) signed() bool { return f.generation >= 3 }

// schemaWithTools reports whether the model accepts a schema for its answer together
// with tools. Earlier models refuse both together.
func (f family) schemaWithTools() bool { return f.generation >= 3 }

// The budgets of reasoning, in tokens: Google's for these efforts.
const (
	leastBudget  = 128 // of a model that cannot stop thinking
	lowBudget    = 1024
	mediumBudget = 8192
	highBudget   = 24576
)

// budget returns the tokens of an effort. ok is false for an unknown effort; exact
// reports whether the model has this effort.
func (f family) budget(effort string) (tokens int, exact, ok bool) {
	switch effort {
	case "none":
		if f.pro {
			return leastBudget, false, true
		}
		return 0, true, true
	case "minimal", "low":
		return lowBudget, true, true
	case "medium":
		return mediumBudget, true, true
	case "high":
		return highBudget, true, true
	}
	return 0, false, false
}

// level returns the level of an effort, likewise. If the model lacks the level, the next
// one is near enough to need no warning.
func (f family) level(effort string) (level string, exact, ok bool) {
	least := "minimal"
	if f.pro {
		least = "low"
	}
	switch effort {
	case "none":
		return least, false, true
	case "minimal":
		return least, true, true
	case "medium":
		if f.threePro {
			return "high", true, true
		}
		return effort, true, true
	case "low", "high":
		return effort, true, true
	}
	return "", false, false
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
