package memory

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// chunkNote is the part of a moment's metadata that a history needs.
type chunkNote struct {
	First     int64    `json:"first_seq"`
	Last      int64    `json:"last_seq"`
	FileName  string   `json:"file_name"`
	Resources []string `json:"resource_keys"`
}

// view is a moment as a history shows it.
type view struct {
	m *store.Moment
	chunkNote
	key   string
	crumb string
}

func views(ms []store.Moment) []view {
	out := make([]view, len(ms))
	for i := range ms {
		v := &out[i]
		v.m, v.key = &ms[i], store.NormalizeKey(ms[i].Name)
		if json.Unmarshal(ms[i].Metadata, &v.chunkNote) != nil {
			v.chunkNote = chunkNote{} // of another program
		}
	}
	return out
}

// covering returns the moment that covers a row, nil if no moment does.
func covering(chunks []view, seq int64) *view {
	for i := range slices.Backward(chunks) {
		if chunks[i].First <= seq && seq <= chunks[i].Last {
			return &chunks[i]
		}
	}
	return nil
}

// breadcrumb replaces answers that the moment covers (p8).
func (v *view) breadcrumb() string {
	const shown = 120 // characters of the summary
	if v.crumb == "" {
		// The summary must not close the brackets around it.
		said := strings.NewReplacer("[", "(", "]", ")").Replace(firstChars(oneLine(v.m.Summary), shown))
		v.crumb = "[Earlier: " + said + "… → REM LOOKUP " + rem.Quote(v.key) + "]"
	}
	return v.crumb
}

// context returns the moment for the model (p8), with its key. Its text may come from an
// uploaded file, so it is fenced.
func (v *view) context(summary string) string {
	const resources = 10
	var b strings.Builder
	b.WriteString(summary)
	if len(v.Resources) > 0 && !strings.Contains(v.m.Summary, "Resources:") {
		b.WriteString("\nResources: " + strings.Join(v.Resources[:min(len(v.Resources), resources)], ", "))
	}
	if v.FileName != "" && !strings.Contains(v.m.Summary, "File:") {
		b.WriteString("\nFile: " + oneLine(v.FileName))
	}
	if len(v.m.TopicTags) > 0 {
		b.WriteString("\nTopics: " + strings.Join(v.m.TopicTags, ", "))
	}
	return contextHead + llm.Material("moment", b.String()) + "\nREM LOOKUP " + rem.Quote(v.key) + " for all of it"
}

// contextHead is the first line of a moment.
const contextHead = "[Session context]\n"

// oneLine returns a text on one line, with single blanks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// firstChars returns the beginning of a text.
func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
