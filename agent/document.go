package agent

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/p8-org/p8/llm"
)

// Document is an agent as it is written. It is read, never changed: its
// [Fields] are a view of the text, and what p8 does not know is kept, so that a
// document written out again is the same value with its keys in the same order.
type Document struct {
	Fields
	// Warnings are what is odd about the document but does not prevent its use.
	Warnings Problems

	root   *node
	report report
	// What every Compile needs, worked out once.
	prompt    string
	output    *llm.Output
	validator *validator
	names     []string
	limits    Limits
}

// MarshalJSON writes the document as it was read, unknown keys included.
func (d *Document) MarshalJSON() ([]byte, error) {
	root, err := d.tree()
	if err != nil {
		return nil, err
	}
	return root.appendJSON(nil), nil
}

// tree is what was read; of a Document that was made by hand, its fields.
func (d *Document) tree() (*node, error) {
	if d.root != nil {
		return d.root, nil
	}
	return d.Fields.tree()
}

// UnmarshalJSON is [Parse]; its error is [Problems].
func (d *Document) UnmarshalJSON(b []byte) error {
	parsed, err := Parse("", b)
	if err != nil {
		return err
	}
	*d = *parsed
	return nil
}

// MarshalYAML writes the document as it was read, unknown keys included and
// comments excepted.
func (d *Document) MarshalYAML() ([]byte, error) {
	root, err := d.tree()
	if err != nil {
		return nil, err
	}
	return root.appendYAML(nil, 0), nil
}

// Key is the one name that the agent is stored, listed and reported under: its
// name if that can stand in a URL, else short_name, else the first of the
// others in kebab case.
func (d *Document) Key() string {
	if names := d.Names(); len(names) > 0 {
		return names[0]
	}
	return ""
}

// Names are all the names that the agent answers to, [Document.Key] first: what
// name, short_name and fully_qualified_name say, and each in kebab case, so that
// rem.agents.QueryAgent is also rem-agents-query-agent.
func (d *Document) Names() []string {
	if d.names != nil {
		return d.names
	}
	return d.allNames()
}

var simpleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (f *Fields) allNames() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if simpleName.MatchString(f.Name) {
		add(f.Name)
	}
	if simpleName.MatchString(f.ShortName) {
		add(f.ShortName)
	}
	for _, name := range []string{f.Name, f.ShortName, f.FullyQualifiedName} {
		add(Kebab(name))
	}
	for _, name := range []string{f.Name, f.ShortName, f.FullyQualifiedName} {
		add(name)
	}
	return names
}

// Kebab is a name in kebab case: rem.agents.QueryAgent → rem-agents-query-agent,
// "CV Parser" → cv-parser.
func Kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '-'
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) ||
			unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '-' }), "-")
}

// historyTools is whether the tool calls of earlier turns reach the model:
// history.tools, else replay when nested and skip when flat.
func (d *Document) historyTools() string {
	switch {
	case d.History.Tools != "":
		return d.History.Tools
	case d.Dialect == Nested:
		return HistoryReplay
	}
	return HistorySkip
}

// childText is whether a child's text replaces the agent's own:
// child_text, else replace when nested and keep when flat.
func (d *Document) childText() string {
	switch {
	case d.ChildText != "":
		return d.ChildText
	case d.Dialect == Nested:
		return ChildReplace
	}
	return ChildKeep
}

// runLimits are the limits with the older max_iterations as the bound of
// requests.
func (f *Fields) runLimits() Limits {
	l := f.Limits
	for _, n := range []int{f.OverrideMaxIterations, f.MaxIterations} {
		if l.Requests == 0 {
			l.Requests = n
		}
	}
	return l
}

// Summary is the document in one line: short_description, else the first 200
// characters of description.
func (d *Document) Summary() string {
	if d.ShortDescription != "" {
		return d.ShortDescription
	}
	return clip(strings.Join(strings.Fields(d.Description), " "), 200)
}
