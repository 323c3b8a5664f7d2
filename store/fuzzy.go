package store

import (
	"context"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store/internal/trgm"
)

// The defaults of FUZZY.
const (
	DefaultThreshold = 0.3
	DefaultLimit     = 10
	// wordThreshold is pg_trgm's own default for word_similarity.
	wordThreshold = 0.6
	maxFuzzyText  = 1000
	maxFuzzyLimit = 200
)

// Fuzzy finds rows that resemble a text: those whose key or summary (the first
// 500 characters of the row) has a trigram similarity to it of threshold or
// more, and those that contain its words: a short question is never similar to
// a long summary, but may stand in it. The score is the greatest of pg_trgm's
// similarity(key, text), similarity(summary, text) and, where they reach both
// the threshold and 0.6, word_similarity(text, key) and word_similarity(text,
// summary); equal scores are ordered by similarity, then key.
//
// A threshold of 0 is 0.3, a limit of 0 is 10 (at most 200). Only the first
// 1000 characters of the text count. Where the index is in memory, the rows of
// one owner beyond the first 256 MiB of it (some 100,000 with long texts, a
// million with short ones), in the order of their keys, are found by LOOKUP only.
func (s *Store) Fuzzy(ctx context.Context, text string, threshold float64, limit int) (found []Match, err error) {
	err = s.shared(ctx, func(ctx context.Context) error {
		found, err = s.fuzzyOnce(ctx, text, threshold, limit)
		return err
	})
	return found, err
}

func (s *Store) fuzzyOnce(ctx context.Context, text string, threshold float64, limit int) ([]Match, error) {
	if threshold <= 0 {
		threshold = DefaultThreshold
	}
	limit = page(limit, DefaultLimit, maxFuzzyLimit)
	if r := []rune(text); len(r) > maxFuzzyText {
		text = string(r[:maxFuzzyText])
	}
	by, err := callerOf(ctx)
	if err != nil {
		return nil, err
	}
	// The engine's index holds the sealed texts of an encrypted tenant.
	sealed, err := s.seals.of(ctx, by.TenantID, false)
	if err != nil {
		return nil, fail("fuzzy", err)
	}
	if ix, ok := s.engine.(Indexed); ok && sealed == nil {
		found, err := ix.Fuzzy(ctx, by.scope(), text, threshold, limit)
		return found, fail("fuzzy", err)
	}
	var hits []trgm.Hit
	rows := make(map[string]Match)
	err = s.read(ctx, "fuzzy", func(c Conn, by caller) error {
		clear(rows)
		hits = nil
		for _, o := range by.scope().KeyOwners() {
			k := ownerKeys(o)
			ix, release, err := s.openFuzzy(ctx, &keyRows{c, k, fuzzyBudget / 2})
			if err != nil {
				return err
			}
			found := ix.Search(text, threshold, max(threshold, wordThreshold), limit)
			release()
			for _, h := range found {
				entity, id := splitDocID(h.ID)
				// Rows of several owners may have the same id.
				h.ID += "\n" + k.TenantID + "\n" + k.UserID
				rows[h.ID] = Match{Key: h.Key, Type: entity, ID: id, Score: h.Score, Summary: h.Summary, Own: k.UserID != ""}
				hits = append(hits, h)
			}
		}
		return nil
	})
	// Stable, so that the nearest owner stays first among equal scores.
	arrange.By(hits, func(a, b trgm.Hit) int {
		a.ID, b.ID = "", ""
		return trgm.Compare(a, b)
	})
	hits = hits[:min(limit, len(hits))]
	found := make([]Match, len(hits))
	for i, h := range hits {
		found[i] = rows[h.ID]
	}
	return found, err
}

// openFuzzy returns the index of an owner's keys. Where other processes write, too, it is made
// for each search: only encrypted tenants are searched so.
func (s *Store) openFuzzy(ctx context.Context, rows *keyRows) (ix *trgm.Index, release func(), err error) {
	if _, ok := s.engine.(Indexed); ok {
		ix, err = rows.Build(ctx)
		return ix, func() {}, err
	}
	return s.fuzzy.Open(ctx, rows.owner, rows)
}
