package memory_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
)

// From the newest moment each older one is a few LOOKUPs away, and from the memory row
// what is said of it, although the user deleted some.
func TestEveryPartIsReached(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	b := builder(t, memory.BuilderOptions{Store: s, Threshold: 200, Now: clock})
	var all []store.Moment
	for i := range 40 {
		say(t, ctx, s, "talk", 2*i, 2)
		got, err := b.Build(ctx, "talk", 0)
		must(t, err)
		all = append(all, got.Moments...)
		if i == 20 {
			must(t, s.Moments().Delete(ctx, all[17].Name))
			must(t, s.Moments().Delete(ctx, all[20].Name))
		}
	}
	if len(all) != 40 {
		t.Fatalf("%d moments", len(all))
	}
	steps := map[string]int{all[39].Name: 0}
	for queue := []string{all[39].Name}; len(queue) > 0; queue = queue[1:] {
		m, err := s.Moments().ByName(ctx, queue[0])
		if err != nil {
			continue // deleted
		}
		for _, key := range m.PreviousMomentKeys {
			if _, ok := steps[key]; !ok {
				steps[key] = steps[queue[0]] + 1
				queue = append(queue, key)
			}
		}
	}
	for i := range all {
		if n, ok := steps[all[i].Name]; i != 17 && i != 20 && (!ok || n > 7) {
			t.Errorf("moment %d is %d steps away, %v", i, n, ok)
		}
	}
	// The memory rows tell of all moments but the newest.
	e := rem.New(rem.Options{Knowledge: s})
	rec, err := s.Recall(ctx, memory.Policy{Budget: 1000, Moments: 3}.Query("talk"))
	must(t, err)
	text, rowsSeen := *rec.Memory.Content, 0
	told := map[string]bool{}
	for {
		rowsSeen++
		for _, line := range strings.Split(text, "\n") {
			if _, key, ok := strings.Cut(line, " → REM LOOKUP "); ok {
				told[key] = true
			}
		}
		_, key, ok := strings.Cut(text, "\nBefore that: REM LOOKUP ")
		if !ok {
			break
		}
		res, err := e.Run(ctx, "LOOKUP "+key)
		if err != nil || len(res.Results) != 1 {
			t.Fatalf("%s: %d rows, %v", key, len(res.Results), err)
		}
		var row store.Message
		must(t, json.Unmarshal(res.Results[0].Data, &row))
		if text = *row.Content; row.Type != store.MessageMemory {
			t.Fatalf("%s is a %s row", key, row.Type)
		}
	}
	if rowsSeen != 4 || len(told) != 32-2 {
		t.Errorf("%d memory rows tell of %d moments", rowsSeen, len(told))
	}
	if !strings.HasPrefix(text, "Earlier in this conversation:\n- ") || !strings.HasSuffix(text, "→ REM LOOKUP "+all[7].Name) {
		t.Errorf("the first memory row is %q", text)
	}
	c := memory.Compose(&rec, memory.Policy{Budget: 1000, Moments: 3, KeepLast: 2, Breadcrumbs: true})
	if c.Tokens > 1000 || c.Parts[0].Kind != memory.PartMemory || c.Parts[1].Kind != memory.PartMoment {
		t.Errorf("got\n%s", print(c))
	}
}

var printedKey = regexp.MustCompile(`REM LOOKUP ([^ \]\n]+)`)

// After a thousand turns the model is sent no more than after a few, and what was said
// long ago is found from there, by nothing but the keys that are shown.
func TestAThousandTurns(t *testing.T) {
	const (
		turns  = 1000
		facts  = 20
		budget = 4000
	)
	s, ctx := open(t), as(t, "ada")
	b := builder(t, memory.BuilderOptions{Store: s, Threshold: 2000, Now: clock})
	p := memory.Policy{Budget: budget, Moments: 3, KeepLast: 5, Breadcrumbs: true}
	must(t, s.PutSession(ctx, store.Session{ID: "talk"}))
	planted := map[int64]string{}
	for from := 0; from < turns; from += 20 {
		var said []*store.Message
		add := func(kind, text string) {
			said = append(said, &store.Message{SessionID: "talk", Type: kind, Content: &text, TokenCount: llm.EstimateTokens(text), CreatedAt: noon})
		}
		for i := from; i < from+20; i++ {
			if i%(turns/facts) == 7 {
				add(store.MessageUser, fmt.Sprintf("Please note: the code of door %d is %d.", i, i*7919))
			} else {
				add(store.MessageUser, fmt.Sprintf("Question %d?", i))
			}
			add(store.MessageAssistant, fmt.Sprintf("Answer %d. %s", i, strings.Repeat("And so on. ", 20)))
		}
		must(t, s.Append(ctx, said...))
		for _, m := range said {
			if strings.HasPrefix(*m.Content, "Please") {
				planted[m.Seq] = *m.Content
			}
		}
		_, err := b.Build(ctx, "talk", 0)
		must(t, err)
		rec, err := s.Recall(ctx, p.Query("talk"))
		must(t, err)
		if c := memory.Compose(&rec, p); c.Tokens > budget || c.Tokens < budget/3 && from > 100 {
			t.Errorf("turn %d: %d tokens", from, c.Tokens)
		}
	}
	if len(planted) != facts {
		t.Fatalf("%d facts", len(planted))
	}
	rec, err := s.Recall(ctx, p.Query("talk"))
	must(t, err)
	e := rem.New(rem.Options{Knowledge: s})
	seen, queue := map[string]string{}, []string{}
	follow := func(text string) {
		for _, m := range printedKey.FindAllStringSubmatch(text, -1) {
			if _, ok := seen[m[1]]; !ok {
				seen[m[1]] = ""
				queue = append(queue, m[1])
			}
		}
	}
	for _, m := range memory.Compose(&rec, p).Messages {
		follow(m.Content)
	}
	found := 0
	for ; len(queue) > 0; queue = queue[1:] {
		res, err := e.Run(ctx, "LOOKUP "+queue[0])
		if err != nil || len(res.Results) != 1 {
			t.Fatalf("%s leads to %d rows, %v", queue[0], len(res.Results), err)
		}
		var row struct {
			Seq      int64    `json:"seq"`
			Content  string   `json:"content"`
			Previous []string `json:"previous_moment_keys"`
			Metadata struct {
				Index []struct{ Key, Text string } `json:"index"`
			} `json:"metadata"`
		}
		must(t, json.Unmarshal(res.Results[0].Data, &row))
		if fact, ok := planted[row.Seq]; ok && row.Content == fact {
			found++
		}
		follow(row.Content)
		for _, key := range row.Previous {
			follow("REM LOOKUP " + key)
		}
		for _, entry := range row.Metadata.Index {
			for _, fact := range planted {
				if entry.Text == fact {
					follow("REM LOOKUP " + entry.Key)
				}
			}
		}
	}
	for seq := range planted {
		if _, ok := seen[rem.MessageKey("talk", seq)]; !ok && seq >= rec.Messages[0].Seq {
			found++ // it is among the rows that are shown
		}
	}
	if found != facts {
		t.Errorf("%d of %d facts are found", found, facts)
	}
}

// Two processes on one database make no moment twice.
func TestTwoReplicas(t *testing.T) {
	u := harness.Postgres(t, "")
	ctx := as(t, "ada")
	var replicas []*store.Store
	for range 2 {
		s, err := postgres.Open(t.Context(), postgres.Options{URL: u, Logger: slog.New(slog.DiscardHandler)})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		replicas = append(replicas, s)
	}
	say(t, ctx, replicas[0], "talk", 0, 60)
	made := race(t, ctx, replicas...)
	stored, _, err := replicas[0].Moments().Find(ctx, store.Filter{Limit: 100})
	if err != nil || len(made) != 12 || len(stored) != 12 {
		t.Errorf("made %d, stored %d, %v", len(made), len(stored), err)
	}
}

// What is said right now does not make a moment of the little that is over.
func TestAMomentIsNotMadeOfTooLittle(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	b := builder(t, memory.BuilderOptions{Store: s, Threshold: 100, Now: clock})
	must(t, s.PutSession(ctx, store.Session{ID: "talk"}))
	row := func(kind string) *store.Message {
		return &store.Message{SessionID: "talk", Type: kind, Content: &[]string{"Text."}[0], TokenCount: 40, CreatedAt: clock()}
	}
	must(t, s.Append(ctx, row(store.MessageUser), row(store.MessageAssistant), row(store.MessageUser)))
	got, err := b.Build(ctx, "talk", 0)
	if err != nil || len(got.Moments) != 0 || got.Unsummarised != 120 {
		t.Errorf("got %+v, %v", got, err)
	}
	must(t, s.Append(ctx, row(store.MessageAssistant)))
	// The newest turn waits: its answer may be made again.
	if got, err = b.Build(ctx, "talk", 0); err != nil || len(got.Moments) != 0 || got.Unsummarised != 160 {
		t.Errorf("got %+v, %v", got, err)
	}
	must(t, s.Append(ctx, row(store.MessageUser), row(store.MessageAssistant)))
	if got, err = b.Build(ctx, "talk", 0); err != nil || len(got.Moments) != 1 || note(t, &got.Moments[0]).Last != 4 || got.Unsummarised != 80 {
		t.Errorf("got %+v, %v", got, err)
	}
	// Somebody who asks for it has it summed up as well.
	if got, err = b.Build(ctx, "talk", 50); err != nil || len(got.Moments) != 1 || note(t, &got.Moments[0]).Last != 6 || got.Unsummarised != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
