package dream

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The bounds of the agents' material, besides the token budget (p8).
const (
	maxMoments     = 50
	maxMomentText  = 2000
	maxSessions    = 5
	maxMessages    = 20
	maxMessageText = 500
	maxFiles       = 10
	maxFileText    = 2000
	maxNamed       = 3

	// relationBack is the relation of the edges back from the targets of dreams.
	relationBack = "dreamed_from"

	rowPage  = 200
	rowPages = 10

	// longest bounds how long before the window a moment may begin that goes on in it.
	longest = 7 * 24 * time.Hour
)

// gather collects the material of the window: each section takes what fits, the newest
// first.
func (d *dream) gather(ctx context.Context, p past) (*material, error) {
	m := &material{stats: Stats{Budget: d.o.Budget}}
	for _, section := range []func(context.Context, past, *material) error{d.addMoments, d.addSessions, d.addFiles} {
		if err := section(ctx, p, m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// addMoments adds the moments that happened, whenever they were stored, and are not dreams,
// parts of sessions or notifications.
func (d *dream) addMoments(ctx context.Context, p past, m *material) error {
	var items []string
	f := store.Filter{Happened: true, Since: d.window.From.Add(-longest), Before: d.window.Until, Own: true, Limit: rowPage}
	seen := 0
	for range rowPages {
		rows, next, err := d.o.Store.Moments().Find(ctx, f)
		if err != nil {
			return err
		}
		for i := range rows {
			x := &rows[i]
			switch x.MomentType {
			case store.MomentDream, store.MomentSessionChunk, store.MomentNotification:
				continue
			}
			began, ended := x.Happened(), x.EndsAt
			if x.MomentType == store.MomentReminder || ended.IsZero() {
				ended = began
			}
			if ended.Before(d.window.From) {
				continue // such as an imported meeting, which is no news
			}
			if p.sessions[x.SourceSessionID] || seen == maxMoments {
				continue
			}
			seen++
			m.saw(x.CreatedAt)
			m.saw(began) // it may have been planned before the last dream
			if text := momentText(x); m.room(text) {
				items = append(items, text)
			}
		}
		if next == "" || seen == maxMoments {
			break
		}
		f.After = next
	}
	m.stats.Moments = len(items)
	m.section("Moments", items)
	return nil
}

func momentText(x *store.Moment) string {
	kind := x.MomentType
	if kind == "" {
		kind = "moment"
	}
	text := "### " + oneLine(x.Name) + " (" + oneLine(kind) + ")\nKey: `" + store.NormalizeKey(x.Name) + "`\n" + tool.Cut(strings.TrimSpace(x.Summary), maxMomentText)
	if tags := slices.Concat(x.TopicTags, x.EmotionTags); len(tags) > 0 {
		text += "\nTags: " + oneLine(strings.Join(tags, ", "))
	}
	return text
}

// shownTypes are the message types that agents read: tool messages add nothing to the
// answers.
var shownTypes = [...]string{store.MessageUser, store.MessageAssistant, store.MessageObservation}

// addSessions adds the last messages of the last used sessions.
func (d *dream) addSessions(ctx context.Context, _ past, m *material) error {
	sessions, err := d.sessions(ctx, maxSessions)
	if err != nil {
		return err
	}
	var items []string
	for i := range sessions {
		sess := &sessions[i]
		if sess.UpdatedAt.Before(d.window.From) {
			break // the rest is older
		}
		rows, err := d.o.Store.Messages(ctx, sess.ID, store.MessageFilter{Last: maxMessages, Types: shownTypes[:]})
		if missing(err) != nil {
			return err
		}
		if rows = slices.DeleteFunc(rows, func(r store.Message) bool { return !d.includes(&r) }); len(rows) == 0 {
			continue
		}
		m.saw(rows[len(rows)-1].CreatedAt)
		head, err := d.sessionHead(ctx, sess)
		if err != nil {
			return err
		}
		if !m.room(head) {
			continue
		}
		var lines []string
		for j := len(rows) - 1; j >= 0; j-- {
			line := "[" + rows[j].Type + "] " + short(*rows[j].Content, maxMessageText)
			if !m.room(line) {
				break
			}
			lines = append(lines, line)
		}
		if len(lines) == 0 {
			continue
		}
		slices.Reverse(lines)
		items = append(items, head+"\n"+strings.Join(lines, "\n"))
		m.stats.Sessions++
		m.stats.Messages += len(lines)
	}
	m.section("Conversations", items)
	return nil
}

// includes reports whether a row is in the window and has text.
func (d *dream) includes(r *store.Message) bool {
	return r.Content != nil && strings.TrimSpace(*r.Content) != "" && r.AgentPath == "" && d.window.has(r.CreatedAt)
}

// sessionHead names a session and its newest moments, which dreams can connect with.
func (d *dream) sessionHead(ctx context.Context, sess *store.Session) (string, error) {
	head := "### " + oneLine(sess.Name, sess.ID)
	chunks, _, err := d.o.Store.Moments().Find(ctx, store.Filter{
		Equal: map[string]any{"moment_type": store.MomentSessionChunk, "source_session_id": sess.ID}, Own: true, Limit: maxNamed,
	})
	if err != nil || len(chunks) == 0 {
		return head, err
	}
	keys := make([]string, len(chunks))
	for i := range chunks {
		keys[i] = "`" + store.NormalizeKey(chunks[i].Name) + "`"
	}
	return head + "\nKeys: " + strings.Join(keys, ", "), nil
}

// addFiles adds the files that were ingested in the window.
func (d *dream) addFiles(ctx context.Context, _ past, m *material) error {
	// Files of anonymous callers belong to their tenant.
	rows, _, err := d.o.Store.Files().Find(ctx, store.Filter{
		Equal: map[string]any{"processing_status": store.FileCompleted}, Own: !d.who.Anonymous(), Limit: rowPage,
	})
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(f store.File) bool { return f.TenantID != d.who.TenantID || !d.completed(&f) })
	arrange.By(rows, func(a, b store.File) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	var items []string
	for i := range rows[:min(len(rows), maxFiles)] {
		f := &rows[i]
		m.saw(f.CreatedAt)
		text, err := d.fileText(ctx, f)
		if err != nil {
			return err
		}
		text = "### " + oneLine(f.Name) + "\nKey: `" + store.NormalizeKey(f.Name) + "`\n" + tool.Cut(strings.TrimSpace(text), maxFileText)
		if m.room(text) {
			items = append(items, text)
		}
	}
	m.stats.Files = len(items)
	m.section("Files", items)
	return nil
}

// completed reports whether a file was ingested within the window. A file that is
// ingested again keeps its created_at; updated_at shows it, unless a dream has added
// an edge.
func (d *dream) completed(f *store.File) bool {
	dreamt := slices.ContainsFunc(f.GraphEdges, func(e store.Edge) bool { return e.Relation == relationBack })
	return d.window.has(f.CreatedAt) || d.window.has(f.UpdatedAt) && !dreamt
}

// fileText returns the beginning of a file's text, from its pieces or its page.
func (d *dream) fileText(ctx context.Context, f *store.File) (string, error) {
	if f.ParsedContent != "" {
		return f.ParsedContent, nil
	}
	of := store.Filter{Equal: map[string]any{"file_id": f.ID}, Limit: rowPage}
	pieces, _, err := d.o.Store.Resources().Find(ctx, of)
	if err != nil {
		return "", err
	}
	arrange.By(pieces, func(a, b store.Resource) int { return a.Ordinal - b.Ordinal })
	var b strings.Builder
	for i := range pieces {
		if b.Len() < 4*maxFileText {
			b.WriteString(pieces[i].Content + "\n")
		}
	}
	if b.Len() > 0 {
		return b.String(), nil
	}
	of.Limit = 1
	pages, _, err := d.o.Store.Ontologies().Find(ctx, of)
	if err != nil || len(pages) == 0 {
		return "", err
	}
	return pages[0].Content, nil
}
