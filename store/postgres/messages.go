package postgres

import (
	"context"
	"strings"

	"github.com/p8-org/p8/store"
)

// maxFound bounds the messages with the words of a search that are sorted.
const maxFound = 100_000

// FindMessages implements store.MessageFinder. Ids of messages are UUIDv7, which are in
// the order of time.
func (e *engine) FindMessages(ctx context.Context, c store.Conn, owner store.RowOwner, terms []store.Term, limit int, each func(string, int64)) error {
	s := &statement{}
	said := make([]string, len(terms))
	for i, t := range terms {
		said[i] = termQuery(s, t)
	}
	all := strings.Join(said, ` && `)
	// If PostgreSQL knows none of the terms as a word, the query would match every message.
	s.add(`SELECT m.session_id, m.seq FROM (SELECT entity_id FROM (SELECT entity_id FROM caller_words WHERE words @@ (%s::tsquery && %s) AND numnode(%s) > 0`,
		s.arg(scopeLexeme("messages", owner)), all, all)
	s.add(` LIMIT %d) hits ORDER BY entity_id COLLATE "C" DESC LIMIT %d) k`, maxFound, limit)
	s.add(` JOIN messages m ON m.tenant_id = %s AND m.id = k.entity_id AND m.deleted_at IS NULL ORDER BY k.entity_id COLLATE "C" DESC`, s.arg(owner.TenantID))
	return s.run(ctx, c, func(r store.Row) error {
		var session string
		var seq int64
		if err := r.Scan(&session, &seq); err != nil {
			return err
		}
		each(session, seq)
		return nil
	})
}
