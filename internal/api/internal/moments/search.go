package moments

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/knowledge"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

type (
	searchMomentsInput struct {
		Query string `query:"q" required:"true" minLength:"1" maxLength:"500" doc:"The subject of the moments."`
		Limit int    `query:"limit" minimum:"1" maximum:"50" default:"10" doc:"How many moments to return."`
	}
	// foundMoment is a moment and how the search found it.
	foundMoment struct {
		store.Moment
		Match string `json:"match" enum:"topic,search,fuzzy" doc:"By a topic, by its meaning, or by a similar name."`
		// Score is the number of matching topics, or the similarity.
		Score float64 `json:"score"`
	}
)

// The ways to find a moment, the best first.
const (
	byTopic  = "topic"
	bySearch = "search"
	byFuzzy  = "fuzzy"
)

const (
	// maxTopics bounds the topics that a search looks for.
	maxTopics = 8
	// minTopic is the length of the shortest word that is a topic, in bytes.
	minTopic = 3
)

// search finds by topic, then by meaning, then by name, each moment once.
func (h *handlers) search(ctx context.Context, in *searchMomentsInput) (*rest.Body[[]foundMoment], error) {
	if h.o.Moments == nil || h.o.Engine == nil {
		return nil, h.api.Missing("moments to search")
	}
	text := strings.TrimSpace(in.Query)
	if text == "" {
		return nil, problem.Invalid("q", "q is empty; say what the moments are about")
	}
	found := []foundMoment{}
	for _, find := range []func(context.Context, string, int) ([]foundMoment, error){h.byTopic, h.bySearch, h.byFuzzy} {
		more, err := find(ctx, text, in.Limit)
		if err != nil {
			return nil, knowledge.QueryProblem(ctx, h.api, err)
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
	return &rest.Body[[]foundMoment]{Body: found}, nil
}

// topics returns the possible topics in a text: all of it, and its words.
func topics(text string) []string {
	text = strings.ToLower(text)
	all := []string{text, store.NormalizeKey(text)}
	for _, word := range strings.Fields(text) {
		if word = strings.Trim(word, ".,;:!?()[]\"'"); len(word) >= minTopic {
			all = append(all, word)
		}
	}
	var out []string
	for _, topic := range all {
		if topic != "" && !slices.Contains(out, topic) && len(out) < maxTopics {
			out = append(out, topic)
		}
	}
	return out
}

// byTopic finds moments with the topics of the text, those with the most first.
func (h *handlers) byTopic(ctx context.Context, text string, limit int) ([]foundMoment, error) {
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
	arrange.By(found, func(a, b foundMoment) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Happened().Compare(a.Happened()))
	})
	return found, nil
}

func (h *handlers) bySearch(ctx context.Context, text string, limit int) ([]foundMoment, error) {
	return h.found(ctx, bySearch, rem.Search{
		Text: text, Tables: []string{"moments"}, Where: "moment_type IS NULL OR moment_type <> '" + store.MomentSessionChunk + "'", Limit: limit,
	})
}

// byFuzzy searches rows of all kinds, so it asks for as many as it can get.
func (h *handlers) byFuzzy(ctx context.Context, text string, _ int) ([]foundMoment, error) {
	return h.found(ctx, byFuzzy, rem.Fuzzy{Text: text, Limit: rem.MaxLimit, Load: true})
}

// found returns the moments among the results of a query.
func (h *handlers) found(ctx context.Context, match string, q rem.Query) ([]foundMoment, error) {
	res, err := h.o.Engine.Run(ctx, q.String())
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
