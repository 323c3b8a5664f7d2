package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/p8-org/p8/llm"
)

// Document is an agent document. It never changes after it was read: its [Fields]
// are a view of the text, and unknown keys are kept, so that a document written out
// again has the same value with its keys in the same order.
type Document struct {
	Fields
	// Warnings are problems that do not prevent the document's use.
	Warnings Problems
	// Unnamed is true if the text has no name and Name comes from the file. A document
	// that is written out has the name.
	Unnamed bool
	// Format is the kind of another program's file that the document was made of, such as
	// "claude-code"; "" for a document of p8.
	Format string

	root   *node
	report report
	// The results that every Compile needs.
	prompt    string
	output    *llm.Output
	validator *validator
	state     *State
	names     []string
	limits    Limits
	// left are the warnings about what the other program's file asks for.
	left Problems
}

// MarshalJSON writes the document as it was read, with unknown keys.
func (d *Document) MarshalJSON() ([]byte, error) {
	root, err := d.tree()
	if err != nil {
		return nil, err
	}
	return root.AppendJSON(nil), nil
}

// tree returns the tree that was read, or, for a Document literal, one of its
// fields.
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

// MarshalYAML writes the document as it was read, with unknown keys but without
// comments.
func (d *Document) MarshalYAML() ([]byte, error) {
	root, err := d.tree()
	if err != nil {
		return nil, err
	}
	return root.AppendYAML(nil, 0), nil
}

// Key returns the name under which the agent is stored, listed and reported: its
// name if that is safe in a URL, else short_name, else the first of the others in
// kebab case.
func (d *Document) Key() string {
	if names := d.Names(); len(names) > 0 {
		return names[0]
	}
	return ""
}

// Names returns all names of the agent, [Document.Key] first: name, short_name and
// fully_qualified_name, and each in kebab case, so that rem.agents.QueryAgent is also
// rem-agents-query-agent.
func (d *Document) Names() []string {
	if d.names != nil {
		return d.names
	}
	return d.allNames()
}

// The kinds of documents that p8 knows.
const (
	KindAgent     = "agent"
	KindEvaluator = "evaluator"
)

// Is returns what the document is: its kind, or KindEvaluator if it has an evaluation_type and
// is an agent or has no kind.
func (d *Document) Is() string {
	if d.EvaluationType != "" && (d.Kind == "" || d.Kind == KindAgent) {
		return KindEvaluator
	}
	return cmp.Or(d.Kind, KindAgent)
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

// Kebab returns a name in kebab case: rem.agents.QueryAgent → rem-agents-query-agent,
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

// historyTools returns history.tools, by default replay for nested and skip for flat
// documents.
func (d *Document) historyTools() string {
	switch {
	case d.History.Tools != "":
		return d.History.Tools
	case d.Dialect == Nested:
		return HistoryReplay
	}
	return HistorySkip
}

// childText returns child_text, by default once for nested and keep for flat
// documents.
func (d *Document) childText() string {
	switch {
	case d.ChildText != "":
		return d.ChildText
	case d.Dialect == Nested:
		return ChildOnce
	}
	return ChildKeep
}

// runLimits returns the limits, with max_iterations as an older name of the limit of
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

// Summary describes the agent in one line: short_description, else the first 200
// characters of description.
func (d *Document) Summary() string {
	if d.ShortDescription != "" {
		return d.ShortDescription
	}
	return clip(strings.Join(strings.Fields(d.Description), " "), 200)
}
