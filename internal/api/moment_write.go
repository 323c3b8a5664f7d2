package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/p8-org/p8/store"
)

type (
	// momentBody is the body of POST /moments.
	momentBody struct {
		Name      string          `json:"name" doc:"What the moment is called; no other of yours has the name."`
		Summary   string          `json:"summary,omitempty" doc:"What happened."`
		Type      string          `json:"moment_type,omitempty" doc:"note (the default), meeting, voice_note or a word of your own; not one of the types that p8 makes."`
		Category  string          `json:"category,omitempty" doc:"A category of your own."`
		Topics    []string        `json:"topic_tags,omitempty" doc:"What it is about, 50 at most."`
		Metadata  json.RawMessage `json:"metadata,omitempty" doc:"An object of your own."`
		StartsAt  string          `json:"starts_timestamp,omitempty" doc:"When it began: a time with its offset, or a day."`
		EndsAt    string          `json:"ends_timestamp,omitempty" doc:"When it ended."`
		SessionID string          `json:"session_id,omitempty" doc:"The session of yours that it belongs to."`
	}
	// momentPatch is the body of PATCH /moments/{id}: what is given is changed.
	momentPatch struct {
		Name     *string         `json:"name,omitempty" doc:"A new name."`
		Summary  *string         `json:"summary,omitempty" doc:"A new summary."`
		Category *string         `json:"category,omitempty" doc:"A new category."`
		Topics   *[]string       `json:"topic_tags,omitempty" doc:"The topics, in place of those that it has."`
		Metadata json.RawMessage `json:"metadata,omitempty" doc:"Keys that are added to the metadata, or replaced in them."`
	}
	// ratingBody is the body of POST /moments/{id}/rate.
	ratingBody struct {
		Rating int `json:"rating" minimum:"1" maximum:"5" doc:"1 to 5."`
	}
)

func (*momentBody) example() string {
	return `{"name":"Tea with Sarah","summary":"She leaves in May."}`
}
func (*momentPatch) example() string { return `{"summary":"She leaves in June."}` }
func (*ratingBody) example() string  { return `{"rating":5}` }

// The bounds of what a client writes into a moment.
const (
	maxMomentName     = 255
	maxMomentSummary  = 20_000
	maxMomentCategory = 100
	maxMomentMetadata = 64 << 10
)

// momentType is a word that no column is too short for.
var momentType = regexp.MustCompile(`^[a-z][a-z0-9_]{0,99}$`)

// made reports whether moments of a type are p8's own work.
func made(kind string) bool {
	return store.OwnMoment(kind) || kind == dailySummary || kind == todaySummary
}

func (h *Handler) momentWrites(api huma.API) {
	h.mux.HandleFunc("POST /moments", h.putMoment)
	handled(api, resource("put-moment", http.MethodPost, "/moments", "Note a moment", "moments"), momentBody{},
		map[string]string{"201": "The moment.", "409": "You have a moment of that name.", "422": "What is wrong with the body."})

	id := text("id", "path", "The moment's id.")
	h.mux.HandleFunc("PATCH /moments/{id}", h.patchMoment)
	op := resource("patch-moment", http.MethodPatch, "/moments/{id}", "Change a moment of yours", "moments")
	op.Description = "Notes, uploads, meetings and moments of your own types; what p8 summed up or told you stays as it is."
	op.Parameters = append(op.Parameters, id)
	handled(api, op, momentPatch{}, map[string]string{
		"200": "The moment.", "400": "Nothing to change.", "403": "A moment of a type that cannot be changed.", "404": "No such moment.",
	})

	h.mux.HandleFunc("POST /moments/{id}/rate", h.rateMoment)
	op = resource("rate-moment", http.MethodPost, "/moments/{id}/rate", "Rate a moment of yours", "moments")
	op.Parameters = append(op.Parameters, id)
	handled(api, op, ratingBody{}, map[string]string{"200": "The moment.", "404": "No such moment."})
}

// putMoment is POST /moments.
func (h *Handler) putMoment(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	var b momentBody
	f := h.readJSON(w, r, &b)
	var m store.Moment
	if f == nil {
		m, f = b.moment()
	}
	if f == nil && h.o.Moments == nil {
		f = h.missing("moments")
	}
	if f == nil && b.SessionID != "" {
		if _, err := h.ownSession(ctx, b.SessionID); err != nil {
			f = h.restFailure(ctx, "session", err)
		}
	}
	if f == nil {
		// With an id of its own: a moment of the name is in the way, and not replaced.
		id, err := uuid.NewV7()
		if err == nil {
			m.ID = id.String()
			err = h.o.Moments.PutWith(ctx, store.PutOptions{}, &m)
		}
		if err != nil {
			f = h.restFailure(ctx, "moment", err)
		}
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	w.Header().Set("Location", "/moments/"+url.PathEscape(m.ID))
	writeJSON(w, http.StatusCreated, m)
}

// moment is the row that the body asks for.
func (b *momentBody) moment() (m store.Moment, f *failure) {
	if f := b.check(); f != nil {
		return m, f
	}
	m = store.Moment{
		Base: store.Base{Metadata: b.Metadata}, Name: b.Name, Summary: b.Summary, MomentType: b.Type,
		Category: b.Category, TopicTags: b.Topics, SourceSessionID: b.SessionID,
	}
	if m.StartsAt, f = moment("starts_timestamp", b.StartsAt); f == nil {
		m.EndsAt, f = moment("ends_timestamp", b.EndsAt)
	}
	return m, f
}

// check is what can be wrong with a new moment; it fills in what is left out.
func (b *momentBody) check() *failure {
	if b.Type == "" {
		b.Type = store.MomentNote
	}
	switch {
	case b.Name == "":
		return invalid("name", "name is missing; call the moment something")
	case !momentType.MatchString(b.Type):
		return invalid("moment_type", "moment_type is %q; it is a word of small letters, digits and _, such as note or meeting", cut(b.Type))
	case made(b.Type):
		return invalid("moment_type", "moments of the type %s are made by p8; use note, meeting or a word of your own", b.Type)
	}
	var wrongTopics *failure
	b.Topics, wrongTopics = tags("topic_tags", b.Topics)
	for _, wrong := range []*failure{
		wrongTopics, longer("name", b.Name, maxMomentName), longer("summary", b.Summary, maxMomentSummary),
		longer("category", b.Category, maxMomentCategory), metadata(&b.Metadata), identifier("session_id", b.SessionID),
	} {
		if wrong != nil {
			return wrong
		}
	}
	return nil
}

// patchMoment is PATCH /moments/{id}.
func (h *Handler) patchMoment(w http.ResponseWriter, r *http.Request) {
	var b momentPatch
	f := h.readJSON(w, r, &b)
	if f == nil {
		f = b.check()
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	h.changeMoment(w, r, func(old *store.Moment) (store.Moment, []string, error) {
		if made(old.MomentType) && old.MomentType != store.MomentContentUpload {
			return store.Moment{}, nil, &failure{
				status: http.StatusForbidden, code: "not_editable",
				message: "a moment of the type " + old.MomentType + " is p8's own and cannot be changed; it can be rated and deleted",
			}
		}
		return b.apply(old)
	})
}

// check is what can be wrong with a change.
func (b *momentPatch) check() *failure {
	if string(b.Metadata) == "null" {
		b.Metadata = nil
	}
	if b.Name == nil && b.Summary == nil && b.Category == nil && b.Topics == nil && b.Metadata == nil {
		return &failure{
			status: http.StatusBadRequest, code: "empty_update",
			message: "there is nothing to change; send name, summary, category, topic_tags or metadata, as in " + b.example(),
		}
	}
	if b.Topics != nil {
		topics, f := tags("topic_tags", *b.Topics)
		if f != nil {
			return f
		}
		b.Topics = &topics
	}
	if b.Name != nil && *b.Name == "" {
		return invalid("name", "name is empty; a moment is called something")
	}
	for _, x := range []struct {
		field string
		value *string
		most  int
	}{{"name", b.Name, maxMomentName}, {"summary", b.Summary, maxMomentSummary}, {"category", b.Category, maxMomentCategory}} {
		if x.value != nil {
			if f := longer(x.field, *x.value, x.most); f != nil {
				return f
			}
		}
	}
	return metadata(&b.Metadata)
}

// apply is the change of a moment: what stays as it is is empty, and clear names
// what becomes empty.
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
		// They are added where they are stored: somebody else may add to them meanwhile.
		var merged json.RawMessage
		m.Metadata = b.Metadata
		if merged, _, err = store.MergeObjects(old.Metadata, b.Metadata); err == nil && len(merged) > maxMomentMetadata {
			err = tooMuchMetadata()
		}
	}
	return m, clear, err
}

// rateMoment is POST /moments/{id}/rate.
func (h *Handler) rateMoment(w http.ResponseWriter, r *http.Request) {
	var b ratingBody
	f := h.readJSON(w, r, &b)
	if f == nil && (b.Rating < 1 || b.Rating > 5) {
		f = invalid("rating", "rating is %d; it goes from 1 to 5", b.Rating)
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	h.changeMoment(w, r, func(*store.Moment) (store.Moment, []string, error) {
		return store.Moment{Rating: b.Rating}, nil, nil
	})
}

// changeMoment reads the moment of the path and stores what change makes of it;
// what change leaves empty stays as it is, unless it names the column.
func (h *Handler) changeMoment(w http.ResponseWriter, r *http.Request, change func(old *store.Moment) (store.Moment, []string, error)) {
	ctx := r.Context()
	if h.o.Moments == nil {
		h.fail(w, r, h.missing("moments"))
		return
	}
	old, err := h.o.Moments.Get(ctx, r.PathValue("id"))
	var m store.Moment
	var clear []string
	if err == nil {
		m, clear, err = change(&old)
	}
	if err == nil {
		m.ID = old.ID
		err = h.o.Moments.PutWith(ctx, store.PutOptions{Merge: true, Metadata: true, Clear: clear}, &m)
	}
	if err != nil {
		h.fail(w, r, h.restFailure(ctx, "moment", err))
		return
	}
	writeJSON(w, http.StatusOK, m)
}
