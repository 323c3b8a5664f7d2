package store

import (
	"context"
	"slices"
	"strconv"
)

// Branch is one of the ways that a session went. Branches begin where the caller went back:
// edited a message, or had one answered again.
type Branch struct {
	// ID is the id of the branch's newest message.
	ID string `json:"id"`
	// Current is true for the branch that readers see and turns continue.
	Current bool `json:"current"`
	// AfterID is the last message that it shares with the current branch, "" for none, and
	// FirstID the first one of its own. Both are "" for the current branch.
	AfterID string `json:"after_id,omitempty"`
	FirstID string `json:"first_id,omitempty"`
	// Text is the beginning of what the user said first on its own part, or of the answer if
	// that was made again.
	Text string `json:"text,omitempty"`
	// Messages is how many messages the current branch does not have.
	Messages int `json:"message_count"`
}

// maxBranches bounds the branches that are listed, the newest.
const maxBranches = 100

// onBranches chooses the messages m of a session on any branch, $1 to $3.
func (d Dialect) onBranches() string {
	return ` FROM messages m WHERE m.tenant_id = $1 AND m.session_id = $2 AND ` + d.ownerOf(`m.`) + ` = $3
		AND (m.deleted_at IS NULL OR m.cut) AND m.message_type <> '` + MessageMemory + `'`
}

// Branches lists the branches of the caller's own session, the newest first, 100 at most. A
// session that never went back has one.
func (s *Store) Branches(ctx context.Context, sessionID string) (list []Branch, err error) {
	err = s.readIn(ctx, "list branches", sessionID, func(c Conn, by caller) error {
		t, err := s.readTree(ctx, c, by, storable(sessionID))
		if err != nil {
			return err
		}
		list, err = t.branches(ctx)
		return err
	})
	return list, err
}

// SwitchBranch makes the newest branch with a message the session's current branch. Its
// session is the caller's own, without a run that has not ended: that is ErrConflict.
func (s *Store) SwitchBranch(ctx context.Context, sessionID, messageID string) error {
	sessionID = storable(sessionID)
	return s.writing(ctx, "switch branch", func(w *writer) error {
		if err := w.by.owns(); err != nil {
			return err
		}
		busy, err := one(ctx, w.c, `SELECT 1 FROM runs WHERE tenant_id = $1 AND session_id = $2
			AND `+w.store.dialect.userOf()+` = $3 AND ended_at IS NULL LIMIT 1`, []any{new(int)}, w.by.TenantID, sessionID, w.by.UserID)
		if err != nil {
			return err
		}
		t, err := s.readTree(ctx, w.c, w.by, sessionID)
		if err != nil {
			return err
		}
		seq, err := t.number(ctx, messageID)
		if err != nil {
			return err
		}
		if contains(t.segments.current(), seq) {
			return nil
		}
		if busy {
			return conflictf("the session %.128q has a run that has not ended", sessionID)
		}
		return w.goBack(ctx, sessionID, t.newest(seq))
	})
}

// tree is the tree of a session's messages.
type tree struct {
	c        Conn
	d        Dialect
	own      []any // the parameters that name the session
	segments segments
	// tips are the numbers of the newest rows of the segments, 0 for an empty one, and tip is
	// that of the current branch.
	tips []int64
	tip  int64
}

// readTree reads the tree of the caller's own session.
func (s *Store) readTree(ctx context.Context, c Conn, by caller, session string) (*tree, error) {
	t := &tree{c: c, d: s.dialect, own: []any{by.TenantID, session, by.UserID}}
	found, err := one(ctx, c, `SELECT 1 FROM sessions`+s.dialect.ownSession()+` AND deleted_at IS NULL`, []any{new(int)}, t.own...)
	if err == nil && !found {
		err = notFound("session", session)
	}
	if err == nil {
		t.segments, err = readSegments(ctx, c, by.TenantID, session, by.UserID)
	}
	if err != nil {
		return nil, err
	}
	t.tips = make([]int64, len(t.segments))
	for i, g := range t.segments {
		last := int64(1<<63 - 1)
		if i+1 < len(t.segments) {
			last = t.segments[i+1].first - 1
		}
		if err := t.c.Later(ctx, Statement{
			SQL:  `SELECT m.seq` + t.d.onBranches() + ` AND m.seq >= $4 AND m.seq <= $5 ORDER BY m.seq DESC LIMIT 1`,
			Args: append(t.own[:3:3], g.first, last), Each: func(r Row) error { return r.Scan(&t.tips[i]) },
		}); err != nil {
			return nil, err
		}
	}
	_, err = one(ctx, c, `SELECT COALESCE(MAX(m.seq), 0)`+t.d.onBranches()+` AND m.deleted_at IS NULL`, []any{&t.tip}, t.own...)
	return t, err
}

// number returns the number of a message, by its id or by the id that the client gave it. If
// several messages have the client's id, it is that of the newest.
func (t *tree) number(ctx context.Context, id string) (seq int64, err error) {
	found, err := one(ctx, t.c, `SELECT m.seq`+t.d.onBranches()+withoutShares+` AND (m.id = $4 OR m.client_message_id = $4) ORDER BY m.id = $4 DESC, m.seq DESC LIMIT 1`,
		[]any{&seq}, append(t.own[:3:3], storable(id))...)
	if err == nil && !found {
		err = notFound("message", id)
	}
	return seq, err
}

func contains(path []span, seq int64) bool {
	return slices.ContainsFunc(path, func(s span) bool { return s.first <= seq && seq <= s.last })
}

// leaves returns the newest messages of the branches, the newest first.
func (t *tree) leaves() []int64 {
	all := []int64{t.tip}
	for i, tip := range t.tips {
		continued := slices.ContainsFunc(t.segments, func(g segment) bool {
			return g.after == tip && t.tips[t.segments.of(g.first)] > 0
		})
		if tip > 0 && tip != t.tip && !continued && !slices.Contains(all, t.tips[i]) {
			all = append(all, tip)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

// newest returns the newest message of the branches with a message.
func (t *tree) newest(seq int64) int64 {
	for _, tip := range t.leaves() {
		if contains(t.segments.path(tip), seq) {
			return tip
		}
	}
	return seq
}

// branches describes the branches.
func (t *tree) branches(ctx context.Context) ([]Branch, error) {
	list := []Branch{}
	for _, tip := range t.leaves() {
		if len(list) == maxBranches {
			break
		}
		b, err := t.describe(ctx, tip)
		if err != nil {
			return nil, err
		}
		if b.ID != "" && (b.Current || b.Messages > 0) {
			list = append(list, b)
		}
	}
	return list, nil
}

// describe reads what the branch that ends with a message shows of itself.
func (t *tree) describe(ctx context.Context, tip int64) (b Branch, err error) {
	current, path := t.segments.path(t.tip), t.segments.path(tip)
	b.Current = tip == t.tip
	if b.ID, err = t.last(ctx, path); err != nil || b.Current {
		return b, err
	}
	after := fork(current, path)
	if b.AfterID, err = t.last(ctx, t.segments.path(after)); err != nil {
		return b, err
	}
	q := t.said(`SELECT m.id, m.message_type, `+beginning(`m.content`, 400)+` AS content`, beyond(path, after))
	q.add(` ORDER BY m.seq`)
	err = t.c.Query(ctx, q.String(), func(r Row) error {
		var id, kind, text string
		if err := r.Scan(&id, &kind, &text); err != nil {
			return err
		}
		if b.Messages++; b.FirstID == "" {
			b.FirstID = id
		}
		if b.Text == "" && (kind == MessageUser || kind == MessageAssistant) {
			b.Text = firstWords(text)
		}
		return nil
	}, q.args...)
	return b, err
}

// last returns the id of the last message of a path, "" for none.
func (t *tree) last(ctx context.Context, path []span) (id string, err error) {
	q := t.said(`SELECT m.id`, path)
	q.add(` ORDER BY m.seq DESC LIMIT 1`)
	_, err = one(ctx, t.c, q.String(), []any{&id}, q.args...)
	return id, err
}

// said begins a query of the messages on a path.
func (t *tree) said(selects string, path []span) *query {
	q := newQuery(selects + t.d.onBranches() + withoutShares)
	q.args = t.own[:3:3]
	q.within(path)
	return q
}

// within adds the condition that a message m is in one of the spans.
func (q *query) within(spans []span) {
	q.add(` AND (1 = 0`)
	for _, s := range spans { // numbers, so that a long list needs no parameters
		q.add(` OR m.seq >= ` + strconv.FormatInt(s.first, 10) + ` AND m.seq <= ` + strconv.FormatInt(s.last, 10))
	}
	q.add(`)`)
}

// FindMessage returns a message on the current branch of the caller's own session, by its id
// or by the one that the client gave it, with its parts, and the number of the message
// before it, 0 for none.
func (s *Store) FindMessage(ctx context.Context, sessionID, id string) (m Message, before int64, err error) {
	err = s.readIn(ctx, "find message", sessionID, func(c Conn, by caller) error {
		live := s.dialect.onBranches() + ` AND m.deleted_at IS NULL`
		found, err := one(ctx, c, `SELECT `+messageColumns+partsColumn+live+withoutShares+` AND (m.id = $4 OR m.client_message_id = $4) ORDER BY m.seq DESC LIMIT 1`,
			m.withParts(), by.TenantID, storable(sessionID), by.UserID, storable(id))
		if err == nil && !found {
			err = notFound("message", id)
		}
		if err != nil {
			return err
		}
		_, err = one(ctx, c, `SELECT COALESCE(MAX(m.seq), 0)`+live+` AND m.seq < $4`, []any{&before}, by.TenantID, storable(sessionID), by.UserID, m.Seq)
		return err
	})
	return m, before, err
}

// onBranch adds the condition that messages are on the newest branch with a message.
func (s *Store) onBranch(ctx context.Context, c Conn, by caller, q *query, session, messageID string) error {
	t, err := s.readTree(ctx, c, by, session)
	if err != nil {
		return err
	}
	seq, err := t.number(ctx, messageID)
	if err != nil {
		return err
	}
	q.add(s.dialect.onBranches())
	q.within(t.segments.path(t.newest(seq)))
	return nil
}
