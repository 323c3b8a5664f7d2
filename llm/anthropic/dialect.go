package anthropic

import (
	"strconv"
	"strings"
)

// thinking is the way to request reasoning.
type thinking uint8

const (
	// never: the model does not reason.
	never thinking = iota
	// budgeted: with a budget of tokens.
	budgeted
	// adaptive: with an effort; the model decides how much.
	adaptive
)

// The ways to switch off the reasoning of a model that reasons by default.
const (
	offDisabled     = "disabled"
	offBetweenTools = "between_tools"
	// offNever: not possible; the lowest effort comes nearest.
	offNever = "never"
)

// dialect holds the differences between models of this protocol.
type dialect struct {
	thinking thinking
	// off is the way to switch reasoning off; "" if it is off by default.
	off string
	// fixedSampling: temperature and top_p are refused.
	fixedSampling bool
	// unforced: the model cannot be made to call a tool.
	unforced bool
	// silent: the model refuses the setting of how reasoning is shown.
	silent bool
	// limit is the largest max_tokens, 0 if unknown; usual is sent if the request has
	// none.
	limit, usual int
}

// thoughtful is the usual limit if reasoning counts towards the answer.
const thoughtful = 32768

// dialectOf knows Anthropic's models by their names, as of its documentation of
// November 2026. Unknown names get the plain protocol.
func dialectOf(model string) dialect {
	family, version := parse(model)
	d := dialect{thinking: budgeted, usual: 4096}
	switch {
	case version == 0 && (family == "fable" || family == "mythos"): // the previews
		return dialect{thinking: adaptive, off: offNever, fixedSampling: true, limit: 128000, usual: thoughtful}
	case version == 0:
		return d
	case version < 35:
		return dialect{limit: 4096, usual: 4096}
	case version < 37:
		return dialect{limit: 8192, usual: 4096}
	case version < 46:
		d.limit = 64000
		if family == "opus" && version < 45 {
			d.limit = 32000
		}
		if version >= 40 {
			d.usual = 8192
		}
		return d
	}
	d = dialect{thinking: adaptive, fixedSampling: version > 46, limit: 128000, usual: thoughtful}
	if version == 46 && family != "opus" {
		d.limit = 64000
	}
	if version >= 50 {
		d.off = offDisabled
	}
	switch {
	case family == "fable" || family == "mythos":
		d.off, d.unforced = offNever, version > 50
	case family == "opus" && version >= 55:
		d.off, d.unforced = offNever, true
	case family == "sonnet" && version >= 55:
		d.off, d.unforced = offBetweenTools, true
	}
	return d
}

// parse takes a name apart: claude-opus-4-5-20251101 is opus 45, and
// claude-3-7-sonnet-latest sonnet 37. The family of other names is "".
func parse(model string) (family string, version int) {
	_, name, found := strings.Cut(strings.ToLower(model), "claude")
	if !found {
		return "", 0
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-._@:/", r) })
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		switch {
		case err != nil && (part == "opus" || part == "sonnet" || part == "haiku" || part == "fable" || part == "mythos"):
			family = part
		case err == nil && version == 0 && n > 0 && n < 100:
			version = n * 10
			if i+1 < len(parts) {
				if minor, err := strconv.Atoi(parts[i+1]); err == nil && minor < 10 {
					version += minor
				}
			}
		}
	}
	return family, version
}
