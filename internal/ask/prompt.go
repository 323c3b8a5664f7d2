package ask

import (
	"strings"
	"time"

	"github.com/p8-org/p8/rem"
)

// instructions returns what the document cannot contain: the date, the grammar and the
// tables of this store. They are made for every question, so they are always current.
func (a *Asker) instructions(now time.Time) string {
	var b strings.Builder
	b.WriteString("Today is " + now.Format("Monday, "+time.DateOnly+", 15:04 ") + now.Location().String() + ".")
	if c := newCalendar(now); c.zone != time.UTC {
		b.WriteString(" Stored times are in UTC: today began at " + timeText(c.begin(c.today)) + ".")
	}
	b.WriteString("\n\n## Grammar\n\n")
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
