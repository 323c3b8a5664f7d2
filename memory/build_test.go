package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func as(t testing.TB, user string) context.Context {
	return identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: user})
}

func open(t testing.TB) *store.Store {
	t.Helper()
	return database.Open(t)
}

func builder(t testing.TB, o memory.BuilderOptions) *memory.Builder {
	t.Helper()
	b, err := memory.NewBuilder(o)
	must(t, err)
	return b
}

var noon = time.Date(2026, 2, 21, 12, 0, 0, 0, time.UTC)

// say adds turns to a session: a question and its answer, a hundred tokens together.
func say(t testing.TB, ctx context.Context, s *store.Store, session string, from, turns int) {
	t.Helper()
	for i := from; i < from+turns; i++ {
		q, a := fmt.Sprintf("Where is parcel %d?", i), fmt.Sprintf("Parcel %d is in hall %d. %s", i, i%7, strings.Repeat("It is safe. ", 25))
		at := noon.Add(time.Duration(i) * time.Minute)
		must(t, s.BeginTurn(ctx, store.Session{ID: session},
			&store.Message{Type: store.MessageUser, Content: &q, TokenCount: 10, CreatedAt: at}))
		must(t, s.Append(ctx,
			&store.Message{SessionID: session, Type: store.MessageToolCall, ToolCalls: []byte(`{"name":"find","id":"c","arguments":{}}`), CreatedAt: at},
			&store.Message{SessionID: session, Type: store.MessageToolResponse, ToolCalls: []byte(`{"name":"find","id":"c"}`), Content: &q, TokenCount: 10, CreatedAt: at},
			&store.Message{SessionID: session, Type: store.MessageAssistant, Content: &a, TokenCount: 80, CreatedAt: at.Add(time.Second)}))
	}
}

type chunkNote struct {
	Index    int    `json:"chunk_index"`
	First    int64  `json:"first_seq"`
	Last     int64  `json:"last_seq"`
	Messages int    `json:"message_count"`
	Tokens   int    `json:"token_count"`
	FirstKey string `json:"first_key"`
	LastKey  string `json:"last_key"`
	Index2   []struct {
		Key  string `json:"key"`
		Text string `json:"text"`
	} `json:"index"`
}

func note(t testing.TB, m *store.Moment) (n chunkNote) {
	t.Helper()
	must(t, json.Unmarshal(m.Metadata, &n))
	return n
}

func clock() time.Time { return noon.Add(24 * time.Hour) }

func TestBuild(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	say(t, ctx, s, "talk", 0, 25)
	b := builder(t, memory.BuilderOptions{Store: s, Threshold: 500, Now: clock})
	sess, err := s.Session(ctx, "talk")
	must(t, err)
	if !b.Due(&sess) {
		t.Error("2500 tokens are more than 500")
	}
	got, err := b.Build(ctx, "talk", 0)
	must(t, err)
	if len(got.Moments) != 5 || got.Unsummarised != 0 {
		t.Fatalf("got %d moments, %d tokens left", len(got.Moments), got.Unsummarised)
	}
	keys := []string{}
	for i := range got.Moments {
		m := &got.Moments[i]
		want := chunkNote{Index: i, First: int64(i*20 + 1), Last: int64(i*20 + 20), Messages: 20, Tokens: 500,
			FirstKey: rem.MessageKey("talk", int64(i*20+1)), LastKey: rem.MessageKey("talk", int64(i*20+20))}
		n := note(t, m)
		if len(n.Index2) != 5 || n.Index2[1].Key != rem.MessageKey("talk", int64(i*20+5)) || n.Index2[1].Text != fmt.Sprintf("Where is parcel %d?", i*5+1) {
			t.Errorf("moment %d has the index %v", i, n.Index2)
		}
		n.Index2 = nil
		if diff := cmp.Diff(want, n); diff != "" {
			t.Error(diff)
		}
		if name := fmt.Sprintf("session-8a4f5f-20260221-chunk-%d", i); m.Name[len(m.Name)-17:] != name[len(name)-17:] || m.MomentType != store.MomentSessionChunk || m.SourceSessionID != "talk" {
			t.Errorf("got %s, %s of %s", m.Name, m.MomentType, m.SourceSessionID)
		}
		if !m.StartsAt.Equal(noon.Add(time.Duration(i*5)*time.Minute)) || !m.EndsAt.Equal(noon.Add(time.Duration(i*5+4)*time.Minute+time.Second)) {
			t.Errorf("moment %d is from %v to %v", i, m.StartsAt, m.EndsAt)
		}
		if i > 0 && (len(m.GraphEdges) != 1 || m.GraphEdges[0].Target != keys[i-1] || m.GraphEdges[0].Relation != "previous") {
			t.Errorf("moment %d has the edges %v", i, m.GraphEdges)
		}
		keys = append(keys, m.Name)
	}
	if diff := cmp.Diff([]string{keys[3], keys[2], keys[0]}, got.Moments[4].PreviousMomentKeys); diff != "" {
		t.Error(diff)
	}
	// Built again, nothing; after more turns, what is new.
	again, err := b.Build(ctx, "talk", 0)
	if err != nil || len(again.Moments) != 0 {
		t.Errorf("%d moments again, %v", len(again.Moments), err)
	}
	say(t, ctx, s, "talk", 25, 3)
	few, err := b.Build(ctx, "talk", 0)
	if err != nil || len(few.Moments) != 0 || few.Unsummarised != 300 {
		t.Errorf("300 tokens: %+v, %v", few, err)
	}
	now, err := b.Build(ctx, "talk", 200)
	if err != nil || len(now.Moments) != 1 || note(t, &now.Moments[0]).Index != 5 || now.Unsummarised != 0 {
		t.Errorf("by a threshold of 200: %+v, %v", now, err)
	}
	if _, err := b.Build(as(t, "eve"), "talk", 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another user's session: %v", err)
	}
}

// What is under way is not summed up, unless it waits for long.
func TestBuildLeavesTheTurnUnderWay(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	say(t, ctx, s, "talk", 0, 5)
	long := strings.Repeat("long ", 1000)
	must(t, s.Append(ctx, &store.Message{SessionID: "talk", Type: store.MessageUser, Content: &long, TokenCount: 1000, CreatedAt: noon.Add(time.Hour)}))
	now := noon.Add(90 * time.Minute)
	b := builder(t, memory.BuilderOptions{Store: s, Threshold: 500, Now: func() time.Time { return now }})
	got, err := b.Build(ctx, "talk", 0)
	if err != nil || len(got.Moments) != 1 || note(t, &got.Moments[0]).Last != 20 || got.Unsummarised != 1000 {
		t.Errorf("got %+v, %v", got, err)
	}
	now = noon.Add(3 * time.Hour)
	if got, err = b.Build(ctx, "talk", 0); err != nil || len(got.Moments) != 1 || note(t, &got.Moments[0]).Last != 21 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// race has builders on each of the stores build a session at once, and checks that
// the moments are in order and without gaps.
func race(t *testing.T, ctx context.Context, stores ...*store.Store) (made []store.Moment) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, s := range stores {
		b := builder(t, memory.BuilderOptions{Store: s, Threshold: 500, Now: clock})
		wg.Go(func() {
			got, err := b.Build(ctx, "talk", 0)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			made = append(made, got.Moments...)
		})
	}
	wg.Wait()
	slices.SortFunc(made, func(a, b store.Moment) int { return note(t, &a).Index - note(t, &b).Index })
	var last int64
	for i := range made {
		n := note(t, &made[i])
		if n.Index != i || n.First != last+1 {
			t.Errorf("moment %d is number %d, from %d after %d", i, n.Index, n.First, last)
		}
		last = n.Last
	}
	return made
}

// Of any number of builders one makes each moment.
func TestManyBuilders(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	say(t, ctx, s, "talk", 0, 60)
	made := race(t, ctx, s, s, s, s)
	stored, _, err := s.Moments().Find(ctx, store.Filter{Limit: 100})
	if err != nil || len(made) != 12 || len(stored) != 12 {
		t.Errorf("made %d, stored %d, %v", len(made), len(stored), err)
	}
}

// taken is a store in which other sessions have the short names.
type taken struct {
	*store.Store
	names []string
}

func (s *taken) PutChunk(ctx context.Context, c store.Chunk) error {
	s.names = append(s.names, c.Moment.Name)
	if len(s.names) < 3 {
		return fmt.Errorf("store: %w", store.ErrNameTaken)
	}
	return s.Store.PutChunk(ctx, c)
}

func TestNamesThatOtherSessionsHave(t *testing.T) {
	s, ctx := &taken{Store: open(t)}, as(t, "ada")
	say(t, ctx, s.Store, "talk", 0, 5)
	b := builder(t, memory.BuilderOptions{Store: s, Threshold: 500, Now: clock})
	got, err := b.Build(ctx, "talk", 0)
	must(t, err)
	if len(s.names) != 3 || len(got.Moments) != 1 || got.Moments[0].Name != s.names[2] || len(s.names[2])-len(s.names[0]) != 24-6 {
		t.Errorf("tried %v", s.names)
	}
}

// A turn that is larger than two moments is cut.
func TestGiantTurns(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	say(t, ctx, s, "talk", 0, 4)
	text := "data"
	for range 30 {
		must(t, s.Append(ctx, &store.Message{SessionID: "talk", Type: store.MessageToolResponse, Content: &text, TokenCount: 100, CreatedAt: noon.Add(time.Hour)}))
	}
	must(t, s.Append(ctx, &store.Message{SessionID: "talk", Type: store.MessageAssistant, Content: &text, TokenCount: 5000, CreatedAt: noon.Add(time.Hour)}))
	b := builder(t, memory.BuilderOptions{Store: s, Threshold: 500, Now: clock})
	got, err := b.Build(ctx, "talk", 0)
	must(t, err)
	var tokens []int
	var last int64
	for i := range got.Moments {
		n := note(t, &got.Moments[i])
		tokens = append(tokens, n.Tokens)
		if n.First != last+1 {
			t.Errorf("moment %d begins at %d after %d", i, n.First, last)
		}
		last = n.Last
	}
	if diff := cmp.Diff([]int{300, 1000, 1000, 1000, 100, 5000}, tokens); diff != "" {
		t.Error(diff)
	}
}

// model is a Summarizer that fails, or says what it is told.
type model struct {
	memory.Summary
	err error
}

func (m model) Summarize(context.Context, []store.Message) (memory.Summary, error) {
	return m.Summary, m.err
}

func TestSummariesOfModels(t *testing.T) {
	for _, tc := range []struct {
		model     model
		text, tag string
	}{
		{model{err: errors.New("down")}, "User: Where is parcel 0?", "parcel"},
		{model{}, "User: Where is parcel 0?", "parcel"},
		{model{Summary: memory.Summary{Text: "All parcels are safe.", Topics: []string{" #Parcels", "parcels", ""}}}, "All parcels are safe.", "parcels"},
		{model{Summary: memory.Summary{Text: strings.Repeat("é", 3000)}}, strings.Repeat("é", 1999) + "…", "parcel"},
	} {
		s, ctx := open(t), as(t, "ada")
		say(t, ctx, s, "talk", 0, 5)
		got, err := builder(t, memory.BuilderOptions{Store: s, Summarizer: tc.model, Threshold: 500, Now: clock}).Build(ctx, "talk", 0)
		must(t, err)
		if m := got.Moments[0]; !strings.HasPrefix(m.Summary, tc.text) || len(m.TopicTags) == 0 || m.TopicTags[0] != tc.tag {
			t.Errorf("got %.60q, %v", m.Summary, m.TopicTags)
		}
	}
}
