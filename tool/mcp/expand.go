package mcp

import (
	"fmt"
	"strings"
)

// expand puts the values of variables in the place of ${VAR}, ${env:VAR} and
// ${VAR:-default}. The error names the first variable that is not set.
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
