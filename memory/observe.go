package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// maxField bounds one field of an observation, in characters.
const maxField = 1000

// field is something that an agent observed.
type field struct{ name, value string }

// fieldsOf returns the fields of an observation that are set, in their order.
func fieldsOf(d *event.MetadataData) []field {
	var out []field
	add := func(name, value string) {
		if value = oneLine(value); value != "" {
			out = append(out, field{name, clip(value, maxField)})
		}
	}
	add("session_name", d.SessionName)
	if d.Confidence != nil {
		add("confidence", strconv.FormatFloat(*d.Confidence, 'g', -1, 64))
	}
	add("sources", strings.Join(d.Sources, ", "))
	add("references", strings.Join(d.References, ", "))
	add("flags", strings.Join(d.Flags, ", "))
	add("risk_level", d.RiskLevel)
	if d.RiskScore != nil {
		add("risk_score", strconv.Itoa(*d.RiskScore))
	}
	add("risk_reasoning", d.RiskReasoning)
	add("recommended_action", d.RecommendedAction)
	for _, name := range slices.Sorted(maps.Keys(d.Extra)) {
		value, isText := d.Extra[name].(string)
		if !isText {
			if b, err := json.Marshal(d.Extra[name]); err == nil {
				value = string(b)
			}
		}
		add(oneLine(name), value)
	}
	return out
}

// ObservationText returns the text of an observation's row: a line of the fields that are set,
// in their order; "" if only the session's name is set.
func ObservationText(d *event.MetadataData) string {
	return lineOf(fieldsOf(d), "session_name")
}

// lineOf joins the fields that are set into a line; "" if only the excepted ones are.
func lineOf(fields []field, but ...string) string {
	if !slices.ContainsFunc(fields, func(f field) bool { return !slices.Contains(but, f.name) }) {
		return ""
	}
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.name + ": " + f.value)
	}
	return b.String()
}

// RecordObservation adds an agent's observation to the session's observation moment of the
// day (UTC). An observation with nothing but a confidence or a session's name is ignored.
func RecordObservation(ctx context.Context, k Keeper, sessionID string, d *event.MetadataData, at time.Time) error {
	line := lineOf(fieldsOf(d), "session_name", "confidence")
	if line == "" || sessionID == "" {
		return nil
	}
	at = at.UTC()
	sum := sha256.Sum256([]byte(sessionID))
	const digits = 12
	name := "observation-" + hex.EncodeToString(sum[:])[:digits] + at.Format("-20060102")
	line = at.Format("15:04 ") + line
	return k.ChangeMoment(ctx, name, func(old *store.Moment) (*store.Moment, error) {
		m := store.Moment{MomentType: store.MomentObservation, SourceSessionID: sessionID, StartsAt: at, EndsAt: at}
		var said []string
		if old != nil {
			if said = strings.Split(old.Summary, "\n"); slices.Contains(said, line) {
				return nil, nil // it was recorded before
			}
			m.TopicTags = old.TopicTags
			m.StartsAt, m.EndsAt = earlier(old.StartsAt, at), later(old.EndsAt, at)
		}
		m.Summary = newest(append(said, line))
		m.TopicTags = cleanTopics(slices.Concat(d.Flags, m.TopicTags))
		return &m, nil
	})
}

// newest returns the newest lines that fit into a summary.
func newest(lines []string) string {
	text := strings.Join(lines, "\n")
	for len(lines) > 1 && len([]rune(text)) > maxSummary {
		lines = lines[1:]
		text = strings.Join(lines, "\n")
	}
	return clip(text, maxSummary)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
