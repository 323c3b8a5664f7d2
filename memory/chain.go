package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// chain is the session_chunk moments of a session, one after the other. Each names the
// moments 1, 2, 4, 8 … places before it, so that a few LOOKUPs lead from any moment to any
// earlier one.
type chain struct {
	store Chunks
	sess  *store.Session
	known map[string]*store.Moment
}

// maxPrevious is how many earlier moments a moment names: enough for 32,000 moments.
const maxPrevious = 16

// last returns the newest moment of the session, nil for none.
func (c *chain) last(ctx context.Context) (*store.Moment, error) {
	if c.sess.Chunks == 0 {
		return nil, nil
	}
	// The newest moment may have been deleted; then an earlier one is the last.
	const many = 2000
	for _, rows := range []int{1, many} {
		rec, err := c.store.Recall(ctx, store.RecallQuery{SessionID: c.sess.ID, BeforeSeq: c.sess.SummarySeq + 1, Rows: rows})
		if err != nil {
			return nil, err
		}
		if n := len(rec.Covering); n > 0 && (rows == many || indexOf(&rec.Covering[n-1]) == c.sess.Chunks-1) {
			return &rec.Covering[n-1], nil
		}
	}
	return nil, nil
}

// moment returns a moment of the session, nil for one that is not there.
func (c *chain) moment(ctx context.Context, key string) (*store.Moment, error) {
	if m, ok := c.known[key]; ok {
		return m, nil
	}
	matches, err := c.store.Lookup(ctx, key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	for i := range matches {
		var m store.Moment
		if matches[i].Type != store.TypeMoment || json.Unmarshal(matches[i].Data, &m) != nil || m.SourceSessionID != c.sess.ID {
			continue
		}
		c.known[key] = &m
		return &m, nil
	}
	return nil, nil
}

// previous returns the names of the moments 1, 2, 4, 8 … before the one after last.
func (c *chain) previous(ctx context.Context, last *store.Moment) ([]string, error) {
	var keys []string
	for at := last; at != nil && len(keys) < maxPrevious; {
		keys = append(keys, at.Name)
		// The moment 2^n before the moment that is 2^n before.
		n := min(len(keys)-1, len(at.PreviousMomentKeys))
		var err error
		if at, err = c.first(ctx, at.PreviousMomentKeys[n:]); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// first returns the first moment that still exists: users may delete theirs.
func (c *chain) first(ctx context.Context, keys []string) (*store.Moment, error) {
	for _, key := range keys {
		if m, err := c.moment(ctx, key); m != nil || err != nil {
			return m, err
		}
	}
	return nil, nil
}

// The contentsRecent newest moments are shown whole; a memory row is stored for each
// contentsEach older ones.
const (
	contentsRecent = 3
	contentsEach   = 8
)

// contents returns the memory row to store with the next moment, nil if it is not due: the
// subjects of the moments that are no longer shown, and the key of the moment before them.
func (c *chain) contents(ctx context.Context, last *store.Moment) (*store.Message, error) {
	older := c.sess.Chunks + 1 - contentsRecent // how many, with the next
	if older <= 0 || older%contentsEach != 0 {
		return nil, nil
	}
	var lines []string
	for at := last; at != nil; {
		n := indexOf(at)
		if n < older-contentsEach {
			break
		}
		if n < older {
			lines = append(lines, contentsLine(at))
		}
		var err error
		if at, err = c.first(ctx, at.PreviousMomentKeys); err != nil {
			return nil, err
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	var b strings.Builder
	b.WriteString(contentsHead)
	for i := range lines {
		b.WriteString("\n" + lines[len(lines)-1-i])
	}
	if c.sess.MemorySeq > 0 {
		b.WriteString("\n" + contentsBack + rem.Quote(rem.MessageKey(c.sess.ID, c.sess.MemorySeq)))
	}
	text := b.String()
	return &store.Message{Content: &text, TokenCount: llm.EstimateTokens(text)}, nil
}

// The first line of a memory row, and how its last one begins.
const (
	contentsHead = "Earlier in this conversation:"
	contentsBack = "Before that: REM LOOKUP "
)

func contentsLine(m *store.Moment) string {
	const longest = 100
	about := cmp.Or(strings.Join(m.TopicTags, ", "), m.Summary)
	return "- " + clip(oneLine(about), longest) + " → REM LOOKUP " + rem.Quote(store.NormalizeKey(m.Name))
}

// indexOf returns the index of a moment in its session, from 0; -1 if its metadata has none.
func indexOf(m *store.Moment) int {
	note := struct {
		Index *int `json:"chunk_index"`
	}{}
	if json.Unmarshal(m.Metadata, &note) != nil || note.Index == nil {
		return -1
	}
	return *note.Index
}
