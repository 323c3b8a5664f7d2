package run

import (
	"cmp"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/tool"
)

// chooseRow returns the id for the row of a result that the model is not shown whole, ""
// for other results. LOOKUP finds the rest by that id, also after the run was resumed.
func (r *runner) chooseRow(c *call) string {
	if r.NewID != nil && tool.IsLong(c.Content, r.ResultChars) {
		c.row = cmp.Or(c.row, r.NewID())
	}
	return c.row
}

// excerpt returns what the model is shown of a result.
func (r *runner) excerpt(c *call, content string) string {
	key := ""
	if c.row != "" {
		key = rem.MessageIDKey(c.row)
	}
	return tool.Excerpt(content, key, r.ResultChars)
}
