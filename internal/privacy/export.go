package privacy

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// The lines of an export: the first one, one for each row, and the last one. An export
// without its last line is not whole.
type (
	first struct {
		Export   string `json:"export"`
		TenantID string `json:"tenant_id"`
		UserID   string `json:"user_id"`
		At       string `json:"exported_at"`
	}
	line struct {
		Table string          `json:"table"`
		Row   json.RawMessage `json:"row"`
	}
	// Last is the last line of an export.
	Last struct {
		// End is true, which it is in no other line.
		End  bool             `json:"end"`
		Rows map[string]int64 `json:"rows"`
	}
)

// Export writes the caller's rows as lines of JSON, each a table and a row.
func (s *Service) Export(ctx context.Context, w io.Writer) error {
	who, err := identity.From(ctx)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 64<<10)
	lines := json.NewEncoder(b)
	lines.SetEscapeHTML(false)
	last := Last{End: true, Rows: map[string]int64{}}
	if s.o.Audited && !who.Anonymous() {
		if err := s.o.Store.Audit(ctx, store.AuditExport, who.UserID, ""); err != nil {
			return err
		}
	}
	begun := false
	begin := func() error {
		if begun {
			return nil
		}
		begun = true
		return lines.Encode(first{"p8", who.TenantID, who.UserID, s.o.Now().UTC().Format("2006-01-02T15:04:05Z")})
	}
	err = s.o.Store.Export(ctx, func(table string, row json.RawMessage) error {
		if err := begin(); err != nil {
			return err
		}
		last.Rows[table]++
		return lines.Encode(line{table, row})
	})
	if err == nil {
		err = begin()
	}
	if err == nil {
		err = lines.Encode(last)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}
