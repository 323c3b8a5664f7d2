package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// sessionSearch: a person finds sessions by words of their titles and of what was said.
func sessionSearch(t *testing.T, open Open) {
	s := open(t)
	for _, user := range []string{"u", ""} {
		ctx := as("t", user)
		say := func(id, kind, words string) {
			t.Helper()
			must(t, s.Append(ctx, &store.Message{SessionID: id, Type: kind, Content: text(words)}))
		}
		find := func(f store.SessionFilter) string {
			t.Helper()
			list, _, err := s.Sessions(ctx, f)
			must(t, err)
			return strings.Join(each(list, func(x store.Session) string { return x.ID }), " ")
		}
		begin(t, s, ctx, "rome", "Plan a trip to Rome, please: the Colosseum first.")
		say("rome", store.MessageToolResponse, "A flight costs a zloty.")
		say("rome", store.MessageThink, "zloty, zloty")
		say("rome", store.MessageAssistant, "We begin at the **café** Über den Dächern.")
		must(t, s.FinishTurn(ctx, &store.Message{SessionID: "rome", Type: store.MessageAssistant, AgentPath: "a/b", InputTokens: 5}, ""))
		begin(t, s, ctx, "oslo", "Where do trains to Oslo leave?")
		say("oslo", store.MessageAssistant, "They are leaving from platform 9.")
		must(t, s.PutSession(ctx, store.Session{ID: "tax", Name: "Täxes of 2026"}))
		must(t, s.PutSession(ctx, store.Session{ID: "far", Name: "中央, Дон"}))
		must(t, s.BeginTurn(ctx, store.Session{ID: "dream", Mode: store.ModeDreaming}, userMessage("Dream of Rome.")))
		begin(t, s, ctx, "old", "The ruins of Rome")
		get[store.Session](t)(s.PatchSession(ctx, "old", store.SessionPatch{Archived: new(true)}))
		begin(t, s, as("t", "eve"), "hers", "Rome, platform 9, taxes")
		begin(t, s, as("elsewhere", user), "theirs", "Rome, platform 9, taxes")

		for _, tc := range []struct{ words, want string }{
			{"rome", "rome"},
			{"ROME trip", "rome"},
			{"trip rome oslo", ""},
			{"a trip to the Colosseum", "rome"},
			{"cafe uber", "rome"},
			{"Café ÜBER", "rome"},
			{"leave", "oslo"},
			{"to", "oslo rome"},
			{"zloty", ""},
			{"taxes", "tax"},
			{"taxes 2026", "tax"},
			{"2026 rome", ""},
			{"дон 中央", "far"},
			{"中国", ""}, // of which 4 of 6 bytes are those of 中央
			{"дом", ""},
			{`"rome" OR oslo`, ""},
			{`rome* -trip`, "rome"},
			{"nowhere", ""},
			{strings.Repeat("x", 200) + " rome", "rome"},
			{"½ rome \u0301", "rome"},
			{"\U00031350", ""},
		} {
			wantEqual(t, "sessions about "+tc.words, find(store.SessionFilter{Words: tc.words}), tc.want)
		}
		wantEqual(t, "in the archive", find(store.SessionFilter{Words: "rome", Archived: true}), "old")
		wantEqual(t, "with the background", find(store.SessionFilter{Words: "rome", Background: true}), "dream rome")
		wantEqual(t, "of a mode", find(store.SessionFilter{Words: "rome", Mode: store.ModeDreaming}), "dream")
		for _, agent := range []string{"none", "no\x00ne", "\xff"} {
			wantEqual(t, "of an agent", find(store.SessionFilter{Words: "rome", Agent: agent}), "")
			wantEqual(t, "all of an agent", find(store.SessionFilter{Agent: agent}), "")
		}
		for _, bad := range []string{" ", "!?", "\x00", "½", "²", "\u0301", strings.Repeat("x", 200)} {
			_, _, err := s.Sessions(ctx, store.SessionFilter{Words: bad})
			wantErr(t, fmt.Sprintf("words %q", bad), err, store.ErrInvalid)
		}

		// What is no longer there is not found.
		rome := get[store.Session](t)(s.Session(ctx, "rome"))
		wantEqual(t, "match of a session that was not searched", rome.Match, (*store.SessionMatch)(nil))
		must(t, s.DeleteSession(ctx, "rome"))
		wantEqual(t, "after the deletion", find(store.SessionFilter{Words: "rome"}), "")
		get[store.Session](t)(s.PatchSession(ctx, "tax", store.SessionPatch{Name: new("Levies")}))
		wantEqual(t, "the old title", find(store.SessionFilter{Words: "taxes"}), "")
		wantEqual(t, "the new title", find(store.SessionFilter{Words: "levies"}), "tax")
	}
}

// sessionExcerpt: a search shows the place that it found, the newest of a session.
func sessionExcerpt(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	match := func(words string) store.SessionMatch {
		t.Helper()
		list, _, err := s.Sessions(ctx, store.SessionFilter{Words: words})
		must(t, err)
		if len(list) != 1 || list[0].Match == nil {
			t.Fatalf("%s: %+v", words, list)
		}
		return *list[0].Match
	}
	far := strings.Repeat("so much text, ", 100)
	first, last := userMessage("The lighthouse keeper"), userMessage(far+"with\n\x1b[31ma  lighthouse "+far)
	must(t, s.BeginTurn(ctx, store.Session{ID: "s", Name: "By the sea"}, first, userMessage("Keep it"), last))
	got := match("lighthouses")
	wantEqual(t, "the newest place", []any{got.MessageID, got.Seq, got.Type}, []any{last.ID, int64(3), store.MessageUser})
	if n := len([]rune(got.Excerpt)); !strings.Contains(got.Excerpt, "with [31ma lighthouse so much") || n > 200 ||
		!strings.HasPrefix(got.Excerpt, "…") || !strings.HasSuffix(got.Excerpt, "…") {
		t.Errorf("%d characters: %q", n, got.Excerpt)
	}
	wantEqual(t, "a short text", match("keeper").Excerpt, "The lighthouse keeper")
	wantEqual(t, "a title", match("sea"), store.SessionMatch{Excerpt: "By the sea"})
	// A search reads the beginning of a very long message.
	long := userMessage("kraken " + strings.Repeat("日本語 ", 100_000) + "leviathan")
	must(t, s.BeginTurn(ctx, store.Session{ID: "s"}, long))
	wantEqual(t, "a long text", match("kraken").MessageID, long.ID)
}

// sessionSearchPages: pages of a search stay as they are while new sessions come.
func sessionSearchPages(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	var want, got []string
	for i := range 25 {
		id := fmt.Sprintf("s%02d", i)
		begin(t, s, ctx, id, []string{"a harbour", "a mountain"}[i%2])
		if i%2 == 0 {
			want = append(want, id)
		}
	}
	slices.Reverse(want)
	cursor := ""
	for page := range 10 {
		list, next, err := s.Sessions(ctx, store.SessionFilter{Words: "harbour", Limit: 5, Cursor: cursor})
		must(t, err)
		got = append(got, each(list, func(x store.Session) string { return x.ID })...)
		if cursor = next; cursor == "" {
			break
		}
		begin(t, s, ctx, fmt.Sprint("new", page), "another harbour")
	}
	wantEqual(t, "pages", got, want)
}

// sessionSearchAtOnce: a search meets writers of the same words.
func sessionSearchAtOnce(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	done := make(chan error)
	for w := range 4 {
		go func(ctx context.Context) {
			var err error
			for i := 0; i < 10 && err == nil; i++ {
				err = s.BeginTurn(ctx, store.Session{ID: fmt.Sprintf("s%d-%d", w, i)}, userMessage("a harbour"))
				if err == nil {
					_, _, err = s.Sessions(ctx, store.SessionFilter{Words: "harbour"})
				}
			}
			done <- err
		}(ctx)
	}
	for range 4 {
		must(t, <-done)
	}
	list, _, err := s.Sessions(ctx, store.SessionFilter{Words: "harbours", Limit: 100})
	must(t, err)
	wantEqual(t, "found", len(list), 40)
}
