package mcp

import (
	"fmt"
	"strings"
)

// expand replaces ${VAR}, ${env:VAR} and ${VAR:-default} by the values of the
// variables. The error names the first unset variable.
func expand(text string, getenv func(string) string) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "${")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		inside, after, ok := strings.Cut(rest, "}")
		if !ok {
			b.WriteString("${" + rest)
			return b.String(), nil
		}
		value, err := variable(inside, getenv)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = after
	}
}

func variable(inside string, getenv func(string) string) (string, error) {
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	name = strings.TrimPrefix(name, "env:")
	if kind, _, ok := strings.Cut(name, ":"); ok {
		return "", fmt.Errorf("p8 cannot ask for ${%s}: write ${VAR} and set the variable (%s: is for programs with a window)", inside, kind)
	}
	if value := getenv(name); value != "" {
		return value, nil
	}
	if hasFallback {
		return fallback, nil
	}
	return "", fmt.Errorf("the variable %s is not set: set it, or write ${%s:-default}", name, name)
}
