package sqlite

import (
	"context"
	"strings"

	"github.com/p8-org/p8/store"
)

// FindMessages implements store.MessageFinder. Newer messages have greater numbers in the
// keyword index, so it reads the index from the end, at most limit rows.
func (e *engine) FindMessages(ctx context.Context, c store.Conn, owner store.RowOwner, terms []store.Term, limit int, each func(string, int64)) error {
	var scope int64
	if err := c.Query(ctx, `SELECT id FROM keyword_scopes WHERE tenant_id = $1 AND table_name = 'messages' AND owner = $2`,
		func(r store.Row) error { return r.Scan(&scope) }, owner.TenantID, owner.UserID); err != nil || scope == 0 {
		return err
	}
	return c.Query(ctx, `SELECT m.session_id, m.seq FROM (
			SELECT rowid AS number FROM keywords WHERE keywords MATCH $2 AND `+within+` ORDER BY rowid DESC LIMIT $3) k
		CROSS JOIN keyword_rows r ON r.tenant_id = $4 AND r.number = k.number
		CROSS JOIN messages m ON m.tenant_id = r.tenant_id AND m.id = r.entity_id
		WHERE m.deleted_at IS NULL ORDER BY k.number DESC`,
		func(r store.Row) error {
			var session string
			var seq int64
			if err := r.Scan(&session, &seq); err != nil {
				return err
			}
			each(session, seq)
			return nil
		}, scope, strings.Join(quoted(terms), " AND "), limit, owner.TenantID)
}
