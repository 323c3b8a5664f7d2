package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

type (
	searchMomentsInput struct {
		Query string `query:"q" required:"true" minLength:"1" maxLength:"500" doc:"What the moments are about."`
		Limit int    `query:"limit" minimum:"1" maximum:"50" default:"10" doc:"How many moments to return."`
	}
	// foundMoment is a moment and how it was found.
	foundMoment struct {
		store.Moment
		Match string `json:"match" enum:"topic,search,fuzzy" doc:"By a topic, by its meaning, or by a similar name."`
		// Score is how many of the topics it has, or how similar it is.
		Score float64 `json:"score"`
	}
)

// The ways in which a moment is found, the best first.
const (
	byTopic  = "topic"
	bySearch = "search"
	byFuzzy  = "fuzzy"
)

// maxTopicWords bounds the topics that are looked for, shortTopic what is a word of
// the language rather than a topic.
const (
	maxTopicWords = 8
	shortTopic    = 3
)

// searchMoments finds by topic, then by meaning, then by name, each moment once.
func (h *Handler) searchMoments(ctx context.Context, in *searchMomentsInput) (*body[[]foundMoment], error) {
	if h.o.Moments == nil || h.o.Knowledge == nil {
		return nil, h.missing("moments to search")
	}
	text := strings.TrimSpace(in.Query)
	if text == "" {
		return nil, invalid("q", "q is empty; say what the moments are about")
	}
	found := []foundMoment{}
	for _, find := range []func(context.Context, string, int) ([]foundMoment, error){h.byTopic, h.bySearch, h.byFuzzy} {
		more, err := find(ctx, text, in.Limit)
		if err != nil {
			return nil, h.queryFailure(ctx, err)
		}
		for _, m := range more {
			known := slices.ContainsFunc(found, func(f foundMoment) bool { return f.ID == m.ID })
			if !known && m.MomentType != store.MomentSessionChunk {
				found = append(found, m)
			}
		}
		if len(found) >= in.Limit {
			found = found[:in.Limit]
			break
		}
	}
	return &body[[]foundMoment]{found}, nil
}

// topics are what of a text may be a topic: all of it, and its words.
func topics(text string) []string {
	text = strings.ToLower(text)
	all := []string{text, store.NormalizeKey(text)}
	for _, word := range strings.Fields(text) {
		if word = strings.Trim(word, ".,;:!?()[]\"'"); len(word) >= shortTopic {
			all = append(all, word)
		}
	}
	var out []string
	for _, topic := range all {
		if topic != "" && !slices.Contains(out, topic) && len(out) < maxTopicWords {
			out = append(out, topic)
		}
	}
	return out
}

// byTopic finds moments that have the topics, those with most of them first.
func (h *Handler) byTopic(ctx context.Context, text string, limit int) ([]foundMoment, error) {
	var found []foundMoment
	for _, topic := range topics(text) {
		rows, _, err := h.o.Moments.Find(ctx, store.Filter{HasAll: map[string][]string{"topic_tags": {topic}}, Limit: limit})
		if err != nil {
			return nil, err
		}
		for _, m := range rows {
			i := slices.IndexFunc(found, func(f foundMoment) bool { return f.ID == m.ID })
			if i < 0 {
				i, found = len(found), append(found, foundMoment{Moment: m, Match: byTopic})
			}
			found[i].Score++
		}
	}
	slices.SortStableFunc(found, func(a, b foundMoment) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.CreatedAt.Compare(a.CreatedAt))
	})
	return found, nil
}

func (h *Handler) bySearch(ctx context.Context, text string, limit int) ([]foundMoment, error) {
	return h.asked(ctx, bySearch, rem.Search{
		Text: text, Table: "moments", Where: "moment_type IS NULL OR moment_type <> '" + store.MomentSessionChunk + "'", Limit: limit,
	})
}

// byFuzzy looks through rows of all kinds, so it asks for many.
func (h *Handler) byFuzzy(ctx context.Context, text string, _ int) ([]foundMoment, error) {
	return h.asked(ctx, byFuzzy, rem.Fuzzy{Text: text, Limit: rem.MaxLimit, Load: true})
}

// asked is the moments among the results of a query.
func (h *Handler) asked(ctx context.Context, match string, q rem.Query) ([]foundMoment, error) {
	res, err := h.o.Knowledge.Run(ctx, q.String())
	if err != nil {
		return nil, err
	}
	var found []foundMoment
	for _, row := range res.Results {
		if row.EntityType != store.TypeMoment || row.Data == nil {
			continue
		}
		m := foundMoment{Match: match, Score: row.Score}
		if err := json.Unmarshal(row.Data, &m.Moment); err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}
