package chat_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/store"
)

// Both stores do for a service.
var (
	_ chat.Store = (*store.Store)(nil)
	_ chat.Store = (*chat.MemoryStore)(nil)
)

// put begins a run with a message.
func put(m *chat.MemoryStore, ctx context.Context, session string, row *store.Message) error {
	return m.BeginRun(ctx, store.RunStart{Session: store.Session{ID: session}, Messages: []*store.Message{row}})
}

func TestMemoryStoreForgetsTheOldest(t *testing.T) {
	m := &chat.MemoryStore{MaxSessions: 2, MaxMessages: 4}
	ctx := as(t.Context(), "alice", "")
	begin := func(session string) {
		text := "Hi"
		if err := put(m, ctx, session, &store.Message{Type: store.MessageUser, Content: &text}); err != nil {
			t.Fatal(err)
		}
	}
	begin("s1")
	begin("s2")
	begin("s1")
	begin("s3")
	if _, err := m.Session(ctx, "s2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("s2 was used the longest time ago: %v", err)
	}
	for range 10 {
		begin("s1")
	}
	rows, err := m.Messages(ctx, "s1", store.MessageFilter{})
	if err != nil || len(rows) > 4 || rows[len(rows)-1].Seq != 12 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	s, err := m.Session(ctx, "s1")
	if err != nil || s.Messages != 12 || s.UserID != "alice" || s.TenantID != "default" {
		t.Errorf("%+v %v", s, err)
	}
}

func TestMemoryStoreFilters(t *testing.T) {
	m := &chat.MemoryStore{}
	ctx := as(t.Context(), "alice", "")
	for i := range 6 {
		text := fmt.Sprint(i + 1)
		row := &store.Message{SessionID: "s", Type: []string{store.MessageUser, store.MessageAssistant}[i%2], Content: &text}
		if err := put(m, ctx, "s", row); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		filter store.MessageFilter
		want   string
	}{
		{store.MessageFilter{}, "123456"},
		{store.MessageFilter{AfterSeq: 2}, "3456"},
		{store.MessageFilter{BeforeSeq: 3}, "12"},
		{store.MessageFilter{Last: 2}, "56"},
		{store.MessageFilter{Limit: 2}, "12"},
		{store.MessageFilter{Types: []string{store.MessageUser}, Last: 2, BeforeSeq: 5}, "13"},
	} {
		rows, err := m.Messages(ctx, "s", tc.filter)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range rows {
			got += *r.Content
		}
		if got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.filter, got, tc.want)
		}
	}
	for _, who := range []string{"bob", ""} {
		stranger := as(t.Context(), who, "")
		if _, err := m.Messages(stranger, "s", store.MessageFilter{}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q reads alice's session: %v", who, err)
		}
		row := &store.Message{Type: store.MessageUser, Content: new("own")}
		if err := put(m, stranger, "s", row); err != nil || row.Seq != 1 {
			t.Errorf("%q begins a session of that id: message %d, %v", who, row.Seq, err)
		}
		if rows, err := m.Messages(stranger, "s", store.MessageFilter{}); err != nil || len(rows) != 1 {
			t.Errorf("%q has %d messages in a session of that id, %v", who, len(rows), err)
		}
	}
	if rows, err := m.Messages(ctx, "s", store.MessageFilter{}); err != nil || len(rows) != 6 {
		t.Errorf("alice has %d messages, %v", len(rows), err)
	}
	if err := put(m, ctx, "", &store.Message{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("no session id: %v", err)
	}
}

// Images fill a memory faster than words: those of the sessions that were not used
// for the longest time go first, and the newest always stays.
func TestMemoryStoreForgetsParts(t *testing.T) {
	m := &chat.MemoryStore{MaxParts: 50, MaxSessions: 3, MaxMessages: 4}
	ctx := as(t.Context(), "alice", "")
	begin := func(session string) {
		text := "Look"
		row := &store.Message{Type: store.MessageUser, Content: &text, Parts: []byte(`["0123456789abcdef"]`)} // 20 bytes
		if err := put(m, ctx, session, row); err != nil {
			t.Fatal(err)
		}
	}
	kept := func() (all string) {
		for _, session := range []string{"s1", "s2", "s3", "s4"} {
			rows, _ := m.Messages(ctx, session, store.MessageFilter{Parts: true})
			for _, row := range rows {
				all += fmt.Sprint(session, ":", len(row.Parts), " ")
			}
		}
		return all
	}
	begin("s1")
	begin("s2")
	if got := kept(); got != "s1:20 s2:20 " {
		t.Error(got)
	}
	begin("s3")
	if got := kept(); got != "s1:0 s2:20 s3:20 " {
		t.Error(got)
	}
	for range 9 { // rows are forgotten, and with them what they took
		begin("s3")
	}
	begin("s4") // s1 goes, which has none any more
	begin("s4")
	if got := kept(); got != "s2:0 s3:0 s3:0 s3:0 s3:0 s4:20 s4:20 " {
		t.Error(got)
	}
	m.MaxParts = 10
	begin("s4")
	if rows, _ := m.Messages(ctx, "s4", store.MessageFilter{Parts: true}); len(rows[len(rows)-1].Parts) != 20 || len(rows[0].Parts) != 0 {
		t.Error(kept())
	}
}
