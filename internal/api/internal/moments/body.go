package moments

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
)

type (
	// momentBody is the body of POST /moments.
	momentBody struct {
		Name      string          `json:"name" doc:"The moment's name, unique among yours."`
		Summary   string          `json:"summary,omitempty" doc:"What happened."`
		Type      string          `json:"moment_type,omitempty" doc:"note (the default), meeting, voice_note or a word of your own; p8's own types are reserved."`
		Category  string          `json:"category,omitempty" doc:"A category of your own."`
		Topics    []string        `json:"topic_tags,omitempty" doc:"Its topics, at most 50."`
		Metadata  json.RawMessage `json:"metadata,omitempty" doc:"An object of your own."`
		StartsAt  string          `json:"starts_timestamp,omitempty" doc:"When it began: a time with its offset, or a day."`
		EndsAt    string          `json:"ends_timestamp,omitempty" doc:"When it ended."`
		SessionID string          `json:"session_id,omitempty" doc:"Your session that it belongs to."`
	}
	// momentPatch is the body of PATCH /moments/{id}: fields that are given are changed.
	momentPatch struct {
		Name     *string         `json:"name,omitempty" doc:"A new name."`
		Summary  *string         `json:"summary,omitempty" doc:"A new summary."`
		Category *string         `json:"category,omitempty" doc:"A new category."`
		Topics   *[]string       `json:"topic_tags,omitempty" doc:"The new topics, which replace the old ones."`
		Metadata json.RawMessage `json:"metadata,omitempty" doc:"Keys to add to the metadata or replace there."`
	}
	// ratingBody is the body of POST /moments/{id}/rate.
	ratingBody struct {
		Rating int `json:"rating" minimum:"1" maximum:"5" doc:"1 to 5."`
	}
)

func (*momentBody) Example() string {
	return `{"name":"Tea with Sarah","summary":"She leaves in May."}`
}
func (*momentPatch) Example() string { return `{"summary":"She leaves in June."}` }
func (*ratingBody) Example() string  { return `{"rating":5}` }

// The bounds of the texts of a moment, in characters.
const (
	maxMomentName     = 255
	maxMomentSummary  = 20_000
	maxMomentCategory = 100
)

// momentType matches a word that fits into its column.
var momentType = regexp.MustCompile(`^[a-z][a-z0-9_]{0,99}$`)

// made reports whether p8 makes the moments of a type.
func made(kind string) bool {
	return store.OwnMoment(kind) || kind == dailySummary || kind == todaySummary
}

// moment checks the body and returns its row.
func (b *momentBody) moment() (m store.Moment, f *problem.Problem) {
	if f := b.check(); f != nil {
		return m, f
	}
	m = store.Moment{
		Base: store.Base{Metadata: b.Metadata}, Name: b.Name, Summary: b.Summary, MomentType: b.Type,
		Category: b.Category, TopicTags: b.Topics, SourceSessionID: b.SessionID,
	}
	if m.StartsAt, f = field.Time("starts_timestamp", b.StartsAt); f == nil {
		m.EndsAt, f = field.Time("ends_timestamp", b.EndsAt)
	}
	return m, f
}

// check refuses bodies that no moment can be made of, and sets the default type.
func (b *momentBody) check() *problem.Problem {
	if b.Type == "" {
		b.Type = store.MomentNote
	}
	switch {
	case b.Name == "":
		return problem.Invalid("name", "name is missing; call the moment something")
	case !momentType.MatchString(b.Type):
		return problem.Invalid("moment_type", "moment_type is %q; it is a word of small letters, digits and _, such as note or meeting", web.Cut(b.Type))
	case made(b.Type):
		return problem.Invalid("moment_type", "moments of the type %s are made by p8; use note, meeting or a word of your own", b.Type)
	}
	topics, wrong := field.Tags("topic_tags", b.Topics)
	b.Topics = topics
	return cmp.Or(wrong, field.Longer("name", b.Name, maxMomentName), field.Longer("summary", b.Summary, maxMomentSummary),
		field.Longer("category", b.Category, maxMomentCategory), field.Metadata(&b.Metadata), field.Identifier("session_id", b.SessionID))
}

// check refuses bodies that change nothing, or set wrong values.
func (b *momentPatch) check() *problem.Problem {
	if string(b.Metadata) == "null" {
		b.Metadata = nil
	}
	if b.Name == nil && b.Summary == nil && b.Category == nil && b.Topics == nil && b.Metadata == nil {
		return &problem.Problem{
			Status: http.StatusBadRequest, Code: "empty_update",
			Message: "there is nothing to change; send name, summary, category, topic_tags or metadata, as in " + b.Example(),
		}
	}
	if b.Topics != nil {
		topics, f := field.Tags("topic_tags", *b.Topics)
		if f != nil {
			return f
		}
		b.Topics = &topics
	}
	if b.Name != nil && *b.Name == "" {
		return problem.Invalid("name", "name is empty; a moment is called something")
	}
	for _, x := range []struct {
		field string
		value *string
		most  int
	}{{"name", b.Name, maxMomentName}, {"summary", b.Summary, maxMomentSummary}, {"category", b.Category, maxMomentCategory}} {
		if x.value != nil {
			if f := field.Longer(x.field, *x.value, x.most); f != nil {
				return f
			}
		}
	}
	return field.Metadata(&b.Metadata)
}

// apply returns the columns of the moment that change, and those that become empty.
func (b *momentPatch) apply(old *store.Moment) (m store.Moment, clear []string, err error) {
	set := func(column string, to *string, value *string) {
		if value == nil {
			return
		}
		if *to = *value; *value == "" {
			clear = append(clear, column)
		}
	}
	set("name", &m.Name, b.Name)
	set("summary", &m.Summary, b.Summary)
	set("category", &m.Category, b.Category)
	if b.Topics != nil {
		if m.TopicTags = *b.Topics; len(m.TopicTags) == 0 {
			clear = append(clear, "topic_tags")
		}
	}
	if b.Metadata != nil {
		// The store merges them: another request may add keys at the same time.
		var merged json.RawMessage
		m.Metadata = b.Metadata
		if merged, _, err = store.MergeObjects(old.Metadata, b.Metadata); err == nil {
			if p := field.MetadataSize(merged); p != nil {
				err = p
			}
		}
	}
	return m, clear, err
}
