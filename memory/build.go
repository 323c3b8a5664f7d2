package memory

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Chunks is implemented by *store.Store.
type Chunks interface {
	Recaller
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	Lookup(ctx context.Context, key string) ([]store.Match, error)
	PutChunk(ctx context.Context, c store.Chunk) error
	Append(ctx context.Context, ms ...*store.Message) error
}

// Summary is the summary of a part of a conversation.
type Summary struct {
	Text   string
	Topics []string
	// Spent is what the model consumed; it is set even with an error.
	Spent []run.Spent
}

// Summarizer sums up a part of a conversation, oldest message first. If it fails, the
// extractive summary takes its place.
type Summarizer interface {
	Summarize(ctx context.Context, rows []store.Message) (Summary, error)
}

// BuilderOptions configure a Builder. Store is required.
type BuilderOptions struct {
	Store Chunks
	// Summarizer is nil for the extractive summary alone.
	Summarizer Summarizer
	// Threshold is the number of tokens after the last moment from which the Builder makes
	// another one; 6000 if 0.
	Threshold int
	// Now is the clock.
	Now    func() time.Time
	Logger *slog.Logger
}

// Builder makes the session_chunk moments of sessions.
type Builder struct{ o BuilderOptions }

// NewBuilder makes a Builder.
func NewBuilder(o BuilderOptions) (*Builder, error) {
	const threshold = 6000
	if o.Store == nil {
		return nil, errors.New("memory: a Builder needs a store")
	}
	o.Threshold = cmp.Or(max(0, o.Threshold), threshold)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Builder{o}, nil
}

// Built is the result of a Build.
type Built struct {
	SessionID string `json:"session_id"`
	// Moments are the new ones, oldest first.
	Moments []store.Moment `json:"moments"`
	// Unsummarised is the number of tokens that no moment covers yet.
	Unsummarised int `json:"unsummarised_tokens"`
}

// Due reports whether a session has more to sum up than the threshold.
func (b *Builder) Due(s *store.Session) bool { return unsummarised(s) >= b.o.Threshold }

// Threshold returns the threshold of the options. A Build with it also covers the newest turn.
func (b *Builder) Threshold() int { return b.o.Threshold }

func unsummarised(s *store.Session) int { return max(0, s.TotalTokens-s.SummaryTokens) }

// The bounds of one Build.
const (
	maxChunks = 50  // moments that are made, by this process or another one
	chunkRows = 500 // of one moment
)

// Build makes the due moments of the caller's session. A threshold above 0 replaces the
// options' threshold. With threshold 0, Build leaves out the newest turn: models see it
// whole, and its answer may still be regenerated. A moment covers whole turns of at least the
// threshold, and at most about the larger of the two thresholds. Each range of messages gets
// one moment, however many processes build at once.
func (b *Builder) Build(ctx context.Context, sessionID string, threshold int) (Built, error) {
	out := Built{SessionID: sessionID}
	waits := threshold <= 0
	if waits {
		threshold = b.o.Threshold
	}
	made := map[string]*store.Moment{}
	for range maxChunks {
		sess, err := b.o.Store.Session(ctx, sessionID)
		if err != nil {
			return out, err
		}
		if out.Unsummarised = unsummarised(&sess); out.Unsummarised < threshold {
			break
		}
		rows, tokens, err := b.next(ctx, &sess, threshold, waits)
		if err != nil || len(rows) == 0 {
			return out, err
		}
		m, err := b.put(ctx, &sess, rows, tokens, made)
		switch {
		case errors.Is(err, store.ErrConflict):
			continue // another process was first
		case err != nil:
			return out, err
		}
		out.Moments = append(out.Moments, *m)
		out.Unsummarised = max(0, out.Unsummarised-tokens)
	}
	return out, nil
}

// next returns the rows of the next moment and their tokens, none if there are too few.
// If waits is true, the newest turn is left out.
func (b *Builder) next(ctx context.Context, sess *store.Session, threshold int, waits bool) ([]store.Message, int, error) {
	rows, err := b.o.Store.Messages(ctx, sess.ID, store.MessageFilter{AfterSeq: sess.SummarySeq, Limit: chunkRows})
	if err != nil {
		return nil, 0, err
	}
	full := len(rows) == chunkRows
	now := b.o.Now()
	rows = rows[:complete(rows, now)]
	if waits && !full {
		rows = rows[:settled(rows, now)]
	}
	n, tokens := cut(rows, max(threshold, b.o.Threshold))
	if tokens < threshold && n == len(rows) && !full {
		return nil, 0, nil
	}
	return rows[:n], tokens, nil
}

// A turn without an answer counts as complete after abandonedAfter.
const abandonedAfter = time.Hour

// settled returns the number of rows before the newest turn; all rows if that turn is old.
func settled(rows []store.Message, now time.Time) int {
	if n := len(rows); n == 0 || now.Sub(rows[n-1].CreatedAt) > abandonedAfter {
		return n
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].Type == store.MessageUser && rows[i].AgentPath == "" {
			return i
		}
	}
	return 0
}

// complete returns the number of rows of finished turns: up to the last answer, and all that
// have waited for one for abandonedAfter.
func complete(rows []store.Message, now time.Time) int {
	for i := range rows {
		row := &rows[len(rows)-1-i]
		if row.Type == store.MessageAssistant && row.AgentPath == "" || now.Sub(row.CreatedAt) > abandonedAfter {
			return len(rows) - i
		}
	}
	return 0
}

// cut returns how many of the rows make a moment of about size tokens, and their tokens.
// It cuts between turns, unless one turn has more than twice as many tokens.
func cut(rows []store.Message, size int) (n, tokens int) {
	turn, before := 0, 0 // where the turn begins, and the tokens before it
	for i := range rows {
		if i > 0 && rows[i].Type == store.MessageUser && rows[i].AgentPath == "" {
			if tokens >= size {
				return i, tokens
			}
			turn, before = i, tokens
		}
		more := 0
		if rows[i].Type != store.MessageMemory { // which is a summary itself
			more = rows[i].TokenCount
		}
		if i > 0 && tokens+more > 2*size {
			if before >= size/2 {
				return turn, before
			}
			return i, tokens
		}
		tokens += more
	}
	return len(rows), tokens
}
