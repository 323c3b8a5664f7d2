package agent

import "github.com/p8-org/p8/internal/tree"

// The tree that a document is read into.
type (
	node     = tree.Node
	member   = tree.Member
	position = tree.Position
)

// The kinds of its nodes.
const (
	null    = tree.Null
	boolean = tree.Boolean
	number  = tree.Number
	text    = tree.Text
	array   = tree.Array
	object  = tree.Object
)

// reader reads the source of a document, or a part of it.
func (r *report) reader() *tree.Reader {
	return &tree.Reader{
		File: r.file, Max: MaxSource,
		Report: func(at position, hint, message string) { r.errorf(at, "", hint, "%s", message) },
		Hints: tree.Hints{
			Long:    "shorten it, or move what is not the prompt into the knowledge base",
			Several: "put every agent into a file of its own",
			Begin:   begin,
		},
	}
}

// The bounds of a document.
const (
	// MaxSource is the size of a source in bytes.
	MaxSource = 256 << 10
	maxDepth  = tree.MaxDepth
)

const begin = "begin with keys such as type, name and description"

// read reads YAML or JSON; nil after an error.
func (r *report) read(src []byte) *node { return r.mapping(r.reader().Read(src)) }

// mapping refuses a root that is no mapping.
func (r *report) mapping(root *node) *node {
	if root != nil && root.Kind != object {
		r.errorf(root.Pos, "", begin, "a document is a mapping; this is %s", root.Kind)
		return nil
	}
	return root
}
