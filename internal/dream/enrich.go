package dream

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The bounds of the uploads in a moment.
const (
	maxUploads    = 50
	maxChunks     = 100
	maxUploadText = 500
	// uploadedHead begins the uploads in a summary (p8).
	uploadedHead = "[Uploaded Resources]"
)

// enrich adds a session's uploads to its session_chunk moments: each upload to the
// first moment that ends after it, else to the newest. An upload that a moment names
// already is skipped, so enrich can run again.
func (d *dream) enrich(ctx context.Context, session string) (enriched int, err error) {
	of := func(kind string, most int) ([]store.Moment, error) {
		list, _, err := d.o.Store.Moments().Find(ctx, store.Filter{
			Equal: map[string]any{"moment_type": kind, "source_session_id": session}, Since: d.window.From, Own: true, Limit: most,
		})
		slices.Reverse(list) // oldest first
		return list, err
	}
	uploads, err := of(store.MomentContentUpload, maxUploads)
	if err != nil || len(uploads) == 0 {
		return 0, err
	}
	chunks, err := of(store.MomentSessionChunk, maxChunks)
	if err != nil || len(chunks) == 0 {
		return 0, err
	}
	arrange.By(chunks, func(a, b store.Moment) int { return a.EndsAt.Compare(b.EndsAt) })
	named := map[string]bool{}
	for i := range chunks {
		for _, key := range resourceKeys(&chunks[i]) {
			named[store.NormalizeKey(key)] = true
		}
	}
	changed := map[int][]store.Moment{}
	for _, up := range uploads {
		if named[keyOf(&up)] {
			continue
		}
		at := slices.IndexFunc(chunks, func(c store.Moment) bool { return !c.EndsAt.Before(up.CreatedAt) })
		if at < 0 {
			at = len(chunks) - 1
		}
		changed[at] = append(changed[at], up)
	}
	for at := range chunks {
		if len(changed[at]) == 0 {
			continue
		}
		if err := d.addUploads(ctx, &chunks[at], changed[at]); err != nil {
			return enriched, err
		}
		enriched++
	}
	return enriched, nil
}

// addUploads adds uploads to a moment; the rest of its row stays as it is.
func (d *dream) addUploads(ctx context.Context, chunk *store.Moment, uploads []store.Moment) error {
	summary, keys := chunk.Summary, resourceKeys(chunk)
	if !strings.Contains(summary, uploadedHead) {
		summary += "\n\n" + uploadedHead
	}
	for i := range uploads {
		text, err := d.uploadText(ctx, &uploads[i])
		if err != nil {
			return err
		}
		key := keyOf(&uploads[i])
		keys = append(keys, key)
		summary += "\n- " + key + ": " + short(text, maxUploadText)
	}
	added, err := json.Marshal(map[string][]string{"resource_keys": keys})
	if err != nil {
		return err
	}
	metadata, _, err := store.MergeObjects(chunk.Metadata, added)
	if err != nil {
		return err
	}
	return d.o.Store.Moments().PutWith(ctx, store.PutOptions{Merge: true}, &store.Moment{
		Name: chunk.Name, Summary: summary, Base: store.Base{Metadata: metadata},
	})
}

// uploadText returns the beginning of an upload's text.
func (d *dream) uploadText(ctx context.Context, up *store.Moment) (string, error) {
	nodes, err := d.o.Store.Nodes(ctx, []string{keyOf(up)})
	if err != nil {
		return "", err
	}
	for _, n := range nodes {
		if n.Type != store.TypeResource {
			continue
		}
		rows, err := d.o.Store.Load(ctx, n)
		if err != nil {
			return "", err
		}
		var said struct {
			Content string `json:"content"`
		}
		if rows[0] != nil && json.Unmarshal(rows[0], &said) == nil && said.Content != "" {
			return said.Content, nil
		}
	}
	return up.Summary, nil
}

// keyOf returns the key of an upload: of its first piece, else of its moment.
func keyOf(up *store.Moment) string {
	if keys := resourceKeys(up); len(keys) > 0 {
		return store.NormalizeKey(keys[0])
	}
	return store.NormalizeKey(up.Name)
}

// resourceKeys returns the pieces of files that a moment's metadata name.
func resourceKeys(m *store.Moment) []string {
	var said struct {
		Keys []string `json:"resource_keys"`
	}
	if json.Unmarshal(m.Metadata, &said) != nil {
		return nil // another program's metadata
	}
	return slices.DeleteFunc(said.Keys, func(key string) bool { return key == "" })
}

// short returns a text on one line, cut to n characters.
func short(text string, n int) string { return tool.Cut(strings.Join(strings.Fields(text), " "), n) }

// oneLine returns a name on one line.
func oneLine(names ...string) string { return short(cmp.Or(names...), 200) }
