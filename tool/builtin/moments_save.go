package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// maxMoments bounds the moments of one call.
const maxMoments = 100

const saveMomentsDescription = `Keeps moments of the user: what happened, was said, decided or extracted. A moment of the same name is updated. All are stored or, when one is wrong, none.
What a moment is connected with points back to it: "related", to dreams "dreamed_from". The name of a dream becomes a title, without "dream-".
A record needs no particular fields: name and summary are taken from title, id, description and the like where they are missing, and whatever is not a field of a moment is kept in its metadata.`

// saveMomentsParameters accept a structured answer as it is: the lists under either
// name, and any other field.
const saveMomentsParameters = `{
	"type": "object",
	"properties": {
		"moments": {"type": "array", "maxItems": 100, "items": {"$ref": "#/$defs/moment"}, "description": "the moments"},
		"dream_moments": {"type": "array", "maxItems": 100, "items": {"$ref": "#/$defs/moment"}, "description": "moments of the type dream"}
	},
	"$defs": {
		"moment": {
			"type": "object",
			"properties": {
				"name": {"type": "string", "description": "a short name that tells the moment from others; its key is made of it"},
				"summary": {"type": "string", "description": "what happened, in words that stand on their own"},
				"moment_type": {"type": "string", "maxLength": 100, "description": "note, meeting, dream or a type of your own"},
				"category": {"type": "string", "maxLength": 100},
				"topic_tags": {"type": "array", "items": {"type": "string"}},
				"emotion_tags": {"type": "array", "items": {"type": "string"}},
				"tags": {"type": "array", "items": {"type": "string"}},
				"present_persons": {"type": "array", "description": "who took part"},
				"starts_timestamp": {"type": "string", "description": "when it began: a date or an RFC 3339 time"},
				"ends_timestamp": {"type": "string"},
				"affinity_fragments": {
					"type": "array",
					"maxItems": 100,
					"description": "what the moment is connected with",
					"items": {
						"type": "object",
						"properties": {
							"target": {"type": "string", "description": "the key of what it is connected with"},
							"relation": {"type": "string", "description": "how, such as builds_on"},
							"weight": {"type": "number", "minimum": 0, "maximum": 1},
							"reason": {"type": "string"}
						},
						"required": ["target"]
					}
				},
				"metadata": {"type": "object", "description": "anything else"}
			}
		}
	}
}`

// savedMoments is the answer of save_moments, also under p8's names.
type savedMoments struct {
	Status string         `json:"status"`
	Saved  []savedMoment  `json:"saved"`
	Count  int            `json:"count"`
	IDs    []string       `json:"saved_moment_ids"`
	Number int            `json:"moments_count"`
	Merged []store.Linked `json:"merge_results" jsonschema:"what became of the way back of each connection: linked, not_found, or shared for a row of everybody's"`
}

type savedMoment struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Key  string `json:"key"`
}

// saveMoments is save_moments. As a chained tool it gets an agent's structured answer
// as its arguments.
type saveMoments struct {
	tool.Base
	store *store.Store
}

func newSaveMoments(s *store.Store) (tool.Tool, error) {
	base, err := tool.NewBase(llm.ToolSpec{
		Name: "save_moments", Description: saveMomentsDescription, Parameters: json.RawMessage(saveMomentsParameters),
	})
	if err != nil {
		return nil, err
	}
	output, err := tool.OutputOf[savedMoments]()
	if err != nil {
		return nil, err
	}
	return tool.Annotate(saveMoments{base, s}, tool.Annotations{Title: "Save moments", Idempotent: true, Output: output})
}

// Validate ignores fields that are null, which strict structured answers use for
// absent ones.
func (t saveMoments) Validate(ctx context.Context, args json.RawMessage) error {
	var all any
	if json.Unmarshal(args, &all) != nil {
		return t.Base.Validate(ctx, args) // words the mistake
	}
	dropNulls(all)
	clean, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return t.Base.Validate(ctx, clean)
}

// dropNulls removes the null fields of a value, at any depth.
func dropNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if dropNulls(field); field == nil {
				delete(v, name)
			}
		}
	case []any:
		for _, item := range v {
			dropNulls(item)
		}
	}
}

// Call stores the moments, all or none.
func (t saveMoments) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	moments, err := readMoments(call.Arguments, id.SessionID)
	if err != nil {
		return tool.Result{}, err
	}
	if err := t.settle(ctx, moments); err != nil {
		return tool.Result{}, worded(err)
	}
	// Fields that only the earlier moment of the name has are kept.
	linked, err := t.store.PutLinked(ctx, back(moments), moments...)
	if err != nil {
		return tool.Result{}, worded(err)
	}
	out := savedMoments{
		Status: "success", Saved: make([]savedMoment, len(moments)), Count: len(moments),
		IDs: make([]string, len(moments)), Number: len(moments), Merged: list(linked),
	}
	for i, m := range moments {
		out.Saved[i] = savedMoment{ID: m.ID, Name: m.Name, Key: store.NormalizeKey(m.Name)}
		out.IDs[i] = m.ID
	}
	content, err := tool.Encode(out)
	return tool.Result{Content: content}, err
}

// back returns the relation of the edges back from the targets. All moments of a call
// have the same one, because they are written together.
func back(moments []*store.Moment) string {
	if slices.ContainsFunc(moments, func(m *store.Moment) bool { return m.MomentType != store.MomentDream }) {
		return store.DefaultRelation
	}
	return backDream
}

// readMoments makes moments of the arguments. The error names every problem.
func readMoments(args json.RawMessage, session string) ([]*store.Moment, error) {
	var in struct {
		Moments []json.RawMessage `json:"moments"`
		Dreams  []json.RawMessage `json:"dream_moments"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, failed("the moments cannot be read; write moments, a list of objects")
	}
	switch n := len(in.Moments) + len(in.Dreams); {
	case in.Moments == nil && in.Dreams == nil:
		return nil, failed("there is nothing to save; give moments (or dream_moments), a list of objects")
	case n > maxMoments:
		return nil, failed(fmt.Sprintf("there are %d moments; at most %d are saved at a time", n, maxMoments))
	}
	r := momentReader{names: map[string]string{}}
	var moments []*store.Moment
	for _, part := range []struct {
		name, kind string
		records    []json.RawMessage
	}{{"moments", store.MomentNote, in.Moments}, {"dream_moments", store.MomentDream, in.Dreams}} {
		for i, record := range part.records {
			r.place = fmt.Sprintf("%s[%d]", part.name, i)
			m := r.moment(record, len(moments)+1, part.kind)
			m.SourceSessionID = session
			moments = append(moments, m)
		}
	}
	if len(r.problems) > 0 {
		const most = 20
		if more := len(r.problems) - most; more > 0 {
			r.problems = append(slices.Clip(r.problems[:most]), fmt.Sprintf("and %d more", more))
		}
		return nil, failed("nothing was saved: " + strings.Join(r.problems, "; "))
	}
	return moments, nil
}
