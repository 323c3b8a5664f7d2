package fit

import (
	"slices"
	"strings"
)

// Gap is a loss, and the providers that have it.
type Gap struct {
	Loss
	Providers []string
}

// Check returns the parts of a schema that providers do not accept, in the order in which
// it finds them.
func Check(raw []byte) []Gap {
	var gaps []Gap
	known := map[string]int{}
	for _, t := range []*Target{OpenAI(), Anthropic(), Gemini()} {
		_, lost := t.Fit(raw)
		for _, l := range lost {
			key := string(rune(l.Kind)) + "\x00" + l.Keyword + "\x00" + strings.Join(l.Path, "\x00")
			i, found := known[key]
			if !found {
				i = len(gaps)
				known[key] = i
				gaps = append(gaps, Gap{Loss: l})
			}
			if !slices.Contains(gaps[i].Providers, t.name) {
				gaps[i].Providers = append(gaps[i].Providers, t.name)
			}
		}
	}
	return gaps
}
