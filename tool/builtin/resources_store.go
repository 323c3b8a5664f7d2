package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The bounds of stored rows in a resource.
const (
	// maxMessages bounds the messages of a session, the newest ones; maxMessage the
	// characters of each.
	maxMessages = 200
	maxMessage  = 4000
	// maxFileText bounds the text of a file, in characters.
	maxFileText = 64 << 10
	// maxPieces bounds the pieces of a file that are read for its text, piecesPage
	// those that are read at once.
	maxPieces  = 10_000
	piecesPage = 1000
	// momentsPage is the number of moments on a page, maxPage the last page.
	momentsPage = 20
	maxPage     = 500
)

// sessionMessage is a message of rem://sessions/{id}.
type sessionMessage struct {
	Seq       int64           `json:"seq"`
	Type      string          `json:"message_type"`
	Content   string          `json:"content,omitempty"`
	ToolCalls json.RawMessage `json:"tool_calls,omitempty"`
	Agent     string          `json:"agent_name,omitempty"`
	Status    string          `json:"status,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
}

// addSessions adds the caller's sessions.
func (r *Resources) addSessions(s *store.Store) {
	r.add("rem://sessions/{id}", "session", "Session", "A session of the user with its newest messages.", typeJSON,
		func(ctx context.Context, id string) (string, error) {
			session, err := s.Session(ctx, id)
			if err != nil {
				return "", absent(err, "session", id)
			}
			rows, err := s.Messages(ctx, id, store.MessageFilter{Last: maxMessages})
			if err != nil {
				return "", err
			}
			messages := make([]sessionMessage, len(rows))
			for i, m := range rows {
				messages[i] = sessionMessage{Seq: m.Seq, Type: m.Type, ToolCalls: m.ToolCalls, Agent: m.AgentName, Status: m.Status, CreatedAt: m.CreatedAt}
				if m.Content != nil {
					messages[i].Content = tool.Cut(*m.Content, maxMessage)
				}
			}
			return encoded(struct {
				ID        string           `json:"id"`
				Name      string           `json:"name,omitempty"`
				Title     string           `json:"title"`
				Agent     string           `json:"agent_name,omitempty"`
				Count     int64            `json:"message_count"`
				CreatedAt time.Time        `json:"created_at"`
				UpdatedAt time.Time        `json:"updated_at"`
				Messages  []sessionMessage `json:"messages"`
			}{session.ID, session.Name, session.Title, session.AgentName, session.Messages, session.CreatedAt, session.UpdatedAt, messages}, nil)
		},
		func(ctx context.Context) ([]string, error) {
			sessions, _, err := s.Sessions(ctx, store.SessionFilter{Limit: 500})
			ids := make([]string, len(sessions))
			for i, x := range sessions {
				ids[i] = x.ID
			}
			return ids, err
		})
}

// addFiles adds the uploaded files.
func (r *Resources) addFiles(s *store.Store) {
	r.add("files://{id}", "file", "File", "A file that was taken in: what it is, and the beginning of its text.", typeJSON,
		func(ctx context.Context, id string) (string, error) {
			f, err := s.Files().Get(ctx, id)
			if err != nil {
				return "", absent(err, "file", id)
			}
			text, err := fileText(ctx, s, f)
			if err != nil {
				return "", err
			}
			shown := tool.Cut(text, maxFileText)
			return encoded(struct {
				ID        string    `json:"id"`
				Name      string    `json:"name"`
				URI       string    `json:"uri,omitempty"`
				MediaType string    `json:"mime_type,omitempty"`
				Size      int64     `json:"size_bytes"`
				Status    string    `json:"processing_status"`
				CreatedAt time.Time `json:"created_at"`
				Content   string    `json:"content"`
				Truncated bool      `json:"truncated"`
			}{f.ID, f.Name, f.URI, f.MIMEType, f.Size, f.Status, f.CreatedAt, shown, len(shown) != len(text)}, nil)
		},
		func(ctx context.Context) ([]string, error) {
			files, _, err := s.Files().Find(ctx, store.Filter{Limit: 1000})
			ids := make([]string, len(files))
			for i, f := range files {
				ids[i] = f.ID
			}
			return ids, err
		})
}

// fileText returns a file's text: the parsed text, its page, or its pieces in their
// order.
func fileText(ctx context.Context, s *store.Store, f store.File) (string, error) {
	if f.ParsedContent != "" {
		return f.ParsedContent, nil
	}
	of := store.Filter{Equal: map[string]any{"file_id": f.ID}, Limit: 1}
	pages, _, err := s.Ontologies().Find(ctx, of)
	if err != nil {
		return "", err
	}
	if len(pages) > 0 {
		return pages[0].Content, nil
	}
	var pieces []store.Resource
	of.Limit = piecesPage
	for range maxPieces / piecesPage {
		var more []store.Resource
		if more, of.After, err = s.Resources().Find(ctx, of); err != nil {
			return "", err
		}
		if pieces = append(pieces, more...); of.After == "" {
			break
		}
	}
	arrange.By(pieces, func(a, b store.Resource) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	texts := make([]string, len(pieces))
	for i, p := range pieces {
		texts[i] = p.Content
	}
	return strings.Join(texts, "\n\n"), nil
}

// addMoments adds the caller's moments: a page of them, and each one.
func (r *Resources) addMoments(s *store.Store) {
	page := func(ctx context.Context, text string) (string, error) {
		n, err := strconv.Atoi(cmp.Or(text, "1"))
		if err != nil || n < 1 || n > maxPage {
			return "", failed("a page of moments is a number from 1 to " + strconv.Itoa(maxPage))
		}
		found, more, err := findMoments(ctx, s, store.Filter{Happened: true}, (n-1)*momentsPage, momentsPage)
		if err != nil {
			return "", err
		}
		rows := make([]momentRow, len(found))
		for i, m := range found {
			rows[i] = momentRowOf(m)
		}
		return encoded(struct {
			Page    int         `json:"page"`
			Results []momentRow `json:"results"`
			HasMore bool        `json:"has_more"`
		}{n, rows, more}, nil)
	}
	r.add("rem://moments", "moments", "Recent moments", "The user's newest moments.", typeJSON, page, nil)
	r.add("rem://moments/{page}", "moments-page", "Moments", "A page of the user's moments, the newest on page 1.", typeJSON, page, nil)
	r.add("moment://{key}", "moment", "Moment", "A moment of the user by its key.", typeJSON,
		func(ctx context.Context, key string) (string, error) {
			found, err := s.Lookup(ctx, key)
			for _, m := range found {
				if m.Type == store.TypeMoment {
					return encoded(m.Data, nil)
				}
			}
			if err != nil {
				return "", err
			}
			return "", unknown("moment", key, nearMoments(ctx, s, key))
		},
		func(ctx context.Context) ([]string, error) {
			found, _, err := s.Moments().Find(ctx, store.Filter{Limit: 1000})
			keys := make([]string, len(found))
			for i, m := range found {
				keys[i] = store.NormalizeKey(m.Name)
			}
			return keys, err
		})
}

// nearMoments returns the keys of moments with similar names.
func nearMoments(ctx context.Context, s *store.Store, key string) (near []string) {
	const threshold, most = 0.3, 3
	found, err := s.Fuzzy(ctx, key, threshold, 20)
	if err != nil {
		return nil
	}
	for _, m := range found {
		if m.Type == store.TypeMoment && len(near) < most {
			near = append(near, m.Key)
		}
	}
	return near
}
