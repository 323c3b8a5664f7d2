package ask

import (
	"strings"
	"time"

	"github.com/p8-org/p8/rem"
)

// instructions returns what the document cannot contain: the date, the grammar and the
// tables of this store. They are made for every question, so they are always current.
func (a *Asker) instructions() string {
	var b strings.Builder
	now := a.o.Now().UTC()
	b.WriteString("Today is " + now.Format("Monday, "+time.DateOnly) + ", " + now.Format("15:04") + " UTC.\n\n## Grammar\n\n")
	b.WriteString(strings.TrimSpace(rem.Grammar()))
	b.WriteString("\n\n## Tables\n")
	for _, t := range a.o.Engine.Tables() {
		b.WriteString("\n- " + t.Name + ": " + t.Description)
		if t.EmbeddingField != "" {
			b.WriteString(" SEARCH reads its " + t.EmbeddingField + ".")
		}
		b.WriteString("\n  ")
		for i, c := range t.Columns {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(c.Name)
			if c.Type != "text" {
				b.WriteString(" " + c.Type)
			}
		}
	}
	return b.String()
}
