package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// relationPrevious is the relation of the edge from a moment to the one before it.
const relationPrevious = "previous"

// chunkMetadata is the metadata of a session_chunk moment about its messages.
type chunkMetadata struct {
	Index     int          `json:"chunk_index"`
	First     int64        `json:"first_seq"`
	Last      int64        `json:"last_seq"`
	Messages  int          `json:"message_count"`
	Tokens    int          `json:"token_count"`
	FirstKey  string       `json:"first_key"`
	LastKey   string       `json:"last_key"`
	Questions []indexEntry `json:"index,omitempty"`
}

// indexEntry is a message of the user, and how to find it.
type indexEntry struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// put stores the moment of the next rows of a session. known caches moments.
func (b *Builder) put(ctx context.Context, sess *store.Session, rows []store.Message, tokens int, known map[string]*store.Moment) (*store.Moment, error) {
	chain := chain{store: b.o.Store, sess: sess, known: known}
	last, err := chain.last(ctx)
	if err != nil {
		return nil, err
	}
	summary := b.summarize(ctx, rows)
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	m := &store.Moment{
		MomentType: store.MomentSessionChunk, Summary: summary.Text, TopicTags: summary.Topics, SourceSessionID: sess.ID,
		StartsAt: rows[0].CreatedAt, EndsAt: latest(rows),
	}
	if m.PreviousMomentKeys, err = chain.previous(ctx, last); err != nil {
		return nil, err
	}
	if last != nil {
		m.GraphEdges = []store.Edge{{Target: last.Name, Relation: relationPrevious, Weight: 1}}
	}
	chunk := store.Chunk{SessionID: sess.ID, AfterSeq: sess.SummarySeq, LastSeq: rows[len(rows)-1].Seq, Moment: m}
	if m.Metadata, err = json.Marshal(describe(sess, rows, tokens)); err != nil {
		return nil, err
	}
	if chunk.Memory, err = chain.contents(ctx, last); err != nil {
		return nil, err
	}
	if err := b.putNamed(ctx, chunk, rows[0].CreatedAt, sess.Chunks); err != nil {
		return nil, err
	}
	chain.known[m.Name] = m
	b.o.Logger.DebugContext(ctx, "a part of a session was summed up", "session", sess.ID, "moment", m.Name, "tokens", tokens)
	return m, nil
}

// putNamed stores the moment under its name, with a longer hash of the session if another
// session's moment has that name.
func (b *Builder) putNamed(ctx context.Context, c store.Chunk, day time.Time, index int) error {
	sum := sha256.Sum256([]byte(c.SessionID))
	hash := hex.EncodeToString(sum[:])
	for _, digits := range []int{6, 12, 24, len(hash)} {
		c.Moment.Name = fmt.Sprintf("session-%s-%s-chunk-%d", hash[:digits], day.UTC().Format("20060102"), index)
		if err := b.o.Store.PutChunk(ctx, c); !errors.Is(err, store.ErrNameTaken) {
			return err
		}
	}
	return fmt.Errorf("memory: the moment %s: %w", c.Moment.Name, store.ErrNameTaken)
}

// summarize returns the Summarizer's summary, or the extractive one if that fails.
func (b *Builder) summarize(ctx context.Context, rows []store.Message) Summary {
	extract := Extract(rows)
	if b.o.Summarizer == nil {
		return extract
	}
	s, err := b.o.Summarizer.Summarize(ctx, rows)
	b.keepSpent(ctx, rows[0].SessionID, s.Spent)
	if err != nil {
		b.o.Logger.WarnContext(ctx, "a part of a session is shortened, for the model could not sum it up",
			"session", rows[0].SessionID, "error", err, llm.Said(err))
		return extract
	}
	if s.Text = clip(s.Text, maxSummary); s.Text == "" {
		s.Text = extract.Text
	}
	if s.Topics = cleanTopics(s.Topics); len(s.Topics) == 0 {
		s.Topics = extract.Topics
	}
	return s
}

// keepSpent stores what the Summarizer consumed. The summary does not depend on it.
func (b *Builder) keepSpent(ctx context.Context, session string, spent []run.Spent) {
	if len(spent) == 0 {
		return
	}
	shares := make([]*store.Message, len(spent))
	for i := range spent {
		shares[i] = Share(&spent[i], session)
	}
	if err := b.o.Store.Append(context.WithoutCancel(ctx), shares...); err != nil {
		b.o.Logger.WarnContext(ctx, "the usage of a summary could not be stored", "session", session, "error", err)
	}
}

// describe returns the metadata of the moment of some rows.
func describe(sess *store.Session, rows []store.Message, tokens int) chunkMetadata {
	first, last := sess.SummarySeq+1, rows[len(rows)-1].Seq
	return chunkMetadata{
		Index: sess.Chunks, First: first, Last: last, Messages: len(rows), Tokens: tokens,
		FirstKey: rem.MessageKey(sess.ID, rows[0].Seq), LastKey: rem.MessageKey(sess.ID, last),
		Questions: index(rows),
	}
}

// index returns a line for each message of the user, so that each can be found. If there are
// too many, those in the middle are left out: their numbers find them.
func index(rows []store.Message) []indexEntry {
	const (
		entries = 100
		chars   = 6000 // of all lines
		longest = 120
		least   = 40
	)
	var said []*store.Message
	for i := range rows {
		if row := &rows[i]; row.Type == store.MessageUser && row.AgentPath == "" && text(row) != "" {
			said = append(said, row)
		}
	}
	n := min(len(said), entries)
	out := make([]indexEntry, n)
	for i := range out {
		row := said[i*len(said)/n]
		out[i] = indexEntry{rem.MessageKey(row.SessionID, row.Seq), clip(oneLine(text(row)), max(least, min(longest, chars/n)))}
	}
	return out
}

// latest returns the time of the last row.
func latest(rows []store.Message) time.Time {
	at := rows[0].CreatedAt
	for i := range rows {
		if rows[i].CreatedAt.After(at) {
			at = rows[i].CreatedAt
		}
	}
	return at
}

// clip shortens a text to at most n characters.
func clip(s string, n int) string {
	if short := firstChars(s, n); len(short) < len(s) {
		return firstChars(s, n-1) + "…"
	}
	return s
}
