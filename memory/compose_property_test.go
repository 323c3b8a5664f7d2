package memory_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// shelf is a store that has the rows and the moments of one session.
type shelf struct {
	rem.Knowledge
	rows    []store.Message
	moments []store.Moment
}

func (s shelf) Tables() []store.TableInfo { return nil }

func (s shelf) Fuzzy(context.Context, string, float64, int) ([]store.Match, error) { return nil, nil }

func (s shelf) Lookup(_ context.Context, key string) ([]store.Match, error) {
	for i := range s.moments {
		if store.NormalizeKey(s.moments[i].Name) == store.NormalizeKey(key) {
			data, err := json.Marshal(&s.moments[i])
			return []store.Match{{Key: key, Type: "moment", Data: data}}, err
		}
	}
	return nil, nil
}

func (s shelf) MessageBySeq(_ context.Context, session string, seq int64) (store.Message, error) {
	for _, r := range s.rows {
		if r.SessionID == session && r.Seq == seq {
			r.ToolCalls = nil // which may be no JSON here
			return r, nil
		}
	}
	return store.Message{}, store.ErrNotFound
}

func (s shelf) Message(_ context.Context, id string) (store.Message, error) {
	for _, r := range s.rows {
		if r.ID == id {
			r.ToolCalls = nil
			return r, nil
		}
	}
	return store.Message{}, store.ErrNotFound
}

// recalled draws a session with moments, and what a store has of it.
func recalled(t *rapid.T) (*store.Recalled, shelf) {
	all := session(t)
	id := rapid.SampledFrom([]string{"s", "a, b", "x-msg-3-part-2", "日本"}).Draw(t, "session")
	base := int64(rapid.IntRange(0, 50).Draw(t, "older rows"))
	for i := range all {
		r := &all[i]
		r.SessionID, r.Seq = id, base+int64(i+1)
		r.ID = fmt.Sprintf("0198c0de-0000-7000-8000-%012d", r.Seq)
		if r.Content != nil && *r.Content != "" {
			text := fmt.Sprintf("row-%d. %s", r.Seq, *r.Content)
			if r.Type == store.MessageToolResponse && rapid.IntRange(0, 4).Draw(t, "huge") == 0 {
				text += strings.Repeat("z", 2*rem.PartChars)
			}
			r.Content = &text
		}
		if rapid.Bool().Draw(t, "counted") {
			r.TokenCount += llm.EstimateTokens(cmp.Or(deref(r.Content), string(r.ToolCalls)))
		}
	}
	rec := &store.Recalled{Found: true, Messages: all, More: base > 0}
	for first, n := int64(1), 0; first <= base+int64(len(all)); n++ {
		last := first + int64(rapid.IntRange(0, 20).Draw(t, "chunk"))
		rec.Covering = append(rec.Covering, moment(fmt.Sprintf("session-abcdef-20260221-chunk-%d", n), store.MomentSessionChunk,
			strings.Repeat("What was said. ", rapid.IntRange(0, 60).Draw(t, "summary")), fmt.Sprintf(`{"first_seq":%d,"last_seq":%d}`, first, last)))
		first = last + 1 + int64(rapid.IntRange(0, 9).Draw(t, "gap"))
	}
	rec.Covering = rec.Covering[:rapid.IntRange(0, len(rec.Covering)).Draw(t, "chunks")]
	rec.Moments = append([]store.Moment{moment("upload-plan-1a2b", store.MomentContentUpload, "A plan.", `{"file_name":"plan.pdf"}`)}, rec.Covering...)
	s := shelf{rows: all, moments: rec.Moments}
	if rapid.Bool().Draw(t, "memory") {
		text := "Earlier in this conversation:\n" + strings.Repeat("- a, b → REM LOOKUP upload-plan-1a2b\n", rapid.IntRange(0, 40).Draw(t, "lines")) +
			"Before that: REM LOOKUP upload-plan-1a2b"
		m := store.Message{SessionID: id, Seq: 1 << 40, Type: store.MessageMemory, Content: &text}
		rec.Memory, s.rows = &m, append(s.rows, m)
	}
	return rec, s
}

// snapshot is all that could change of what a store gave.
func snapshot(rec *store.Recalled) string {
	var b strings.Builder
	for _, r := range rec.Messages {
		text := deref(r.Content)
		r.Content = nil
		fmt.Fprintf(&b, "%+v %s\n", r, text)
	}
	fmt.Fprintf(&b, "%+v %+v", rec.Moments, rec.Covering)
	return b.String()
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func moment(name, kind, summary, metadata string) store.Moment {
	return store.Moment{Base: store.Base{ID: name, Metadata: json.RawMessage(metadata)}, Name: name, MomentType: kind, Summary: summary}
}

// TestWhatAModelIsSent: whatever happened in a session, what is made of it fits the
// budget, every call has its result, the order is kept, no row comes twice, every key
// leads to its row, and nothing that is stored changes.
func TestWhatAModelIsSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec, s := recalled(t)
		p := policy(t)
		p.Breadcrumbs, p.Moments = rapid.Bool().Draw(t, "crumbs"), rapid.IntRange(0, 4).Draw(t, "moments")
		p.ResultChars = rapid.SampledFrom([]int{0, 7000}).Draw(t, "result")
		p.Scale = rapid.SampledFrom([]float64{0, 1.3}).Draw(t, "scale")
		before := snapshot(rec)
		got := memory.Compose(rec, p)
		if snapshot(rec) != before {
			t.Fatal("what is stored was changed")
		}
		checkCalls(t, got.Messages)
		checkParts(t, got, p)
		checkRows(t, got.Messages, rec)
		e := rem.New(rem.Options{Knowledge: s})
		at := 0
		for _, part := range got.Parts {
			for _, m := range got.Messages[at : at+part.Messages] {
				checkKeys(t, e, m.Content)
				at++
			}
			if part.Key == "" {
				t.Fatalf("the part %+v has no key", part)
			}
			row := resolve(t, e, rem.Quote(part.Key))
			switch part.Kind {
			case memory.PartMoment, memory.PartBreadcrumb:
				if store.NormalizeKey(row.Name) != part.Key {
					t.Fatalf("%s leads to %+v", part.Key, row)
				}
			default:
				if row.Seq != part.First && part.Kind != memory.PartTool {
					t.Fatalf("%s leads to %+v", part.Key, row)
				}
			}
		}
	})
}

// checkCalls: every call has its result right after it.
func checkCalls(t *rapid.T, messages []llm.Message) {
	var open []llm.ToolCall
	for i, m := range messages {
		if m.Role != llm.ToolRole {
			if len(open) > 0 {
				t.Fatalf("message %d comes before the results of %v", i, open)
			}
			open = m.ToolCalls
			continue
		}
		if len(open) == 0 || open[0].ID != m.ToolCallID {
			t.Fatalf("message %d answers %q, waiting are %v", i, m.ToolCallID, open)
		}
		open = open[1:]
	}
	if len(open) > 0 {
		t.Fatalf("no results: %v", open)
	}
}

// checkParts: they add up, are within the budget, and in order.
func checkParts(t *rapid.T, got memory.Context, p memory.Policy) {
	messages, tokens, head := 0, 0, 0
	var last int64
	for _, part := range got.Parts {
		messages, tokens = messages+part.Messages, tokens+part.Tokens
		if part.Kind == memory.PartMemory || part.Kind == memory.PartMoment {
			if last > 0 {
				t.Fatalf("the %s comes after rows", part.Kind)
			}
			head += part.Tokens
			continue
		}
		if part.First <= last {
			t.Fatalf("the row %d comes after %d", part.First, last)
		}
		last = part.First
	}
	switch {
	case messages != len(got.Messages) || tokens != got.Tokens:
		t.Fatalf("the parts have %d messages of %d, %d tokens of %d", messages, len(got.Messages), tokens, got.Tokens)
	case p.Budget > 0 && got.Tokens > p.Budget && len(got.Parts) > 1:
		t.Fatalf("%d parts take %d tokens of %d", len(got.Parts), got.Tokens, p.Budget)
	case p.Budget > 0 && head > p.Budget/3:
		t.Fatalf("the head takes %d tokens of %d", head, p.Budget)
	}
}

// checkRows: no row is shown twice, and what users said is shown as it is.
func checkRows(t *rapid.T, messages []llm.Message, rec *store.Recalled) {
	seen := map[string]bool{}
	for _, m := range messages {
		text := strings.TrimPrefix(m.Content, "[Observation] ")
		if !strings.HasPrefix(text, "row-") {
			continue
		}
		name, _, _ := strings.Cut(text, ".")
		if seen[name] {
			t.Fatalf("%s is shown twice", name)
		}
		seen[name] = true
		for _, r := range rec.Messages {
			if name == fmt.Sprintf("row-%d", r.Seq) && r.Type != store.MessageAssistant && r.Type != store.MessageToolResponse &&
				!strings.HasPrefix(text, *r.Content) {
				t.Fatalf("%s was shortened", name)
			}
		}
	}
}

// checkKeys: every key that a text prints leads somewhere.
func checkKeys(t *rapid.T, e *rem.Engine, text string) {
	_, rest, found := strings.Cut(text, "REM LOOKUP ")
	for found {
		end := len(rest)
		for _, stop := range []string{" to recover full content]", " for all of it", " for the next part]", "]", "\n"} {
			if i := strings.Index(rest, stop); i >= 0 {
				end = min(end, i)
			}
		}
		resolve(t, e, rest[:end])
		_, rest, found = strings.Cut(rest, "REM LOOKUP ")
	}
}

type found struct {
	Seq  int64  `json:"seq"`
	Name string `json:"name"`
}

func resolve(t *rapid.T, e *rem.Engine, key string) (row found) {
	res, err := e.Run(context.Background(), "LOOKUP "+key)
	if err != nil || len(res.Results) != 1 {
		t.Fatalf("%s leads to %d rows, %v", key, len(res.Results), err)
	}
	if err := json.Unmarshal(res.Results[0].Data, &row); err != nil {
		t.Fatal(err)
	}
	return row
}
