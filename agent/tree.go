package agent

import "github.com/p8-org/p8/agent/internal/tree"

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
