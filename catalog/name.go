package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/near"
)

// NameError is a name that no document can have.
type NameError struct {
	Name    string
	Problem string
}

// Error returns the name and its problem.
func (e *NameError) Error() string { return fmt.Sprintf("the agent name %q %s", e.Name, e.Problem) }

// NotFoundError is a name that no document has.
type NotFoundError struct {
	Name string
	// Near are up to three names that were perhaps meant, the nearest first.
	Near []string
}

// Error returns the name and near names.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("there is no agent %q", e.Name)
	if len(e.Near) == 0 {
		return s
	}
	quoted := make([]string, len(e.Near))
	for i, n := range e.Near {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return s + "; did you mean " + strings.Join(quoted, " or ") + "?"
}

// InvalidError is a document that cannot be used, with the reasons.
type InvalidError struct {
	Name     string
	Problems agent.Problems
}

// Error has a line for each problem, with its place.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("the document of the agent %q is not valid:\n%s", e.Name, e.Problems.Error())
}

// Unwrap returns the problems.
func (e *InvalidError) Unwrap() error { return e.Problems }

func invalid(s *source, err error) error {
	return &InvalidError{Name: s.name(), Problems: problems(s.file, err)}
}

// maxName bounds a name, in characters.
const maxName = 255

// cleanName removes what REM and REMLight write around a name (agents/general.yaml). A
// name that looks like a path is a NameError: names are never joined to paths, and a
// client that sends one should learn that.
func cleanName(name string) (string, error) {
	clean := strings.TrimSpace(name)
	for _, prefix := range [...]string{"agents/", "schemas/", "evaluators/"} {
		if rest, ok := strings.CutPrefix(clean, prefix); ok {
			clean = rest
			break
		}
	}
	for _, suffix := range [...]string{".yaml", ".yml", ".json"} {
		if rest, ok := strings.CutSuffix(clean, suffix); ok {
			clean = rest
			break
		}
	}
	switch {
	case clean == "":
		return "", &NameError{clip(name), "is empty"}
	case strings.ContainsAny(clean, `/\`), strings.Contains(clean, ".."), clean == ".":
		return "", &NameError{clip(name), "looks like a path; agents are found by name, not by file"}
	case utf8.RuneCountInString(clean) > maxName:
		return "", &NameError{clip(name), fmt.Sprintf("is longer than %d characters", maxName)}
	case !utf8.ValidString(clean), strings.ContainsFunc(clean, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", &NameError{clip(name), "holds characters that cannot be printed"}
	}
	return clean, nil
}

// clip makes any text short enough for an error.
func clip(s string) string {
	const limit = 80
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// maxNear is the number of names that an error suggests.
const maxNear = 3

// notFound suggests names of the stored documents and of all others.
func (c *Catalog) notFound(name string, names []string) error {
	for _, s := range c.sources() {
		names = append(names, s.name())
	}
	slices.Sort(names)
	return &NotFoundError{Name: clip(name), Near: near.Names(name, slices.Compact(names), maxNear)}
}
