package knowledge

import (
	"cmp"
	"context"

	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// maxUploadKeys bounds the pieces that the moment of a file names.
const maxUploadKeys = 100

// remember makes the moment of a file that was taken in. A failure is logged; the file
// stays.
func (h *handlers) remember(ctx context.Context, u *ingest.Upload, done *ingest.Result, file *store.File, answer *uploadAnswer) {
	upload := memory.Upload{
		SessionID: u.SessionID, FileID: file.ID, FileName: u.Name, MIMEType: file.MIMEType, Category: u.Category, Tags: u.Tags,
	}
	err := h.addPieces(ctx, done.ResourceIDs, &upload)
	var session string
	var m store.Moment
	if err == nil {
		session, m, err = h.o.Recorder(ctx, upload)
	}
	if err != nil {
		h.api.Logger.WarnContext(ctx, "an upload makes no moment", "error", err, "file_id", file.ID, "request_id", web.RequestID(ctx))
		return
	}
	answer.SessionID, answer.MomentID, answer.MomentName = session, m.ID, m.Name
}

// addPieces adds the keys of a file's pieces, and the text of the first one.
func (h *handlers) addPieces(ctx context.Context, ids []string, to *memory.Upload) error {
	if h.o.Pieces == nil || len(ids) == 0 {
		return nil
	}
	ids = ids[:min(len(ids), maxUploadKeys)]
	pieces, _, err := h.o.Pieces.Find(ctx, store.Filter{IDs: ids, Limit: len(ids)})
	if err != nil || len(pieces) == 0 {
		return err
	}
	arrange.By(pieces, func(a, b store.Resource) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	for i := range pieces {
		to.ResourceKeys = append(to.ResourceKeys, store.NormalizeKey(pieces[i].Name))
	}
	to.Text = pieces[0].Content
	return nil
}
