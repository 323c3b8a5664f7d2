package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// photos are n questions with a picture each, and their answers.
func photos(t testing.TB, n int) []store.Message {
	t.Helper()
	var out []store.Message
	for i := range n {
		q := rows(fmt.Sprintf("user question %d", i))[0]
		if err := memory.Attach(&q, []llm.Part{photo(i)}); err != nil {
			t.Fatal(err)
		}
		out = append(out, q, rows(fmt.Sprintf("assistant answer %d", i))[0])
	}
	for i := range out {
		out[i].Seq = int64(i + 1)
	}
	return out
}

func photo(i int) llm.Part {
	return llm.Part{Kind: llm.Image, MediaType: "image/png", Data: []byte{byte(i)}, Name: fmt.Sprintf("%d.png", i)}
}

// Only the newest rows bring their images; the others say that there was one.
func TestPartsOfTheNewestRows(t *testing.T) {
	all := photos(t, 3)
	want := []llm.Message{
		{Role: llm.User, Content: "question 0\n[image: 0.png]"}, {Role: llm.Assistant, Content: "answer 0"},
		{Role: llm.User, Content: "question 1\n[image: 1.png]"}, {Role: llm.Assistant, Content: "answer 1"},
		{Role: llm.User, Content: "question 2", Parts: []llm.Part{photo(2)}}, {Role: llm.Assistant, Content: "answer 2"},
	}
	p := memory.Policy{KeepLast: 3}
	if diff := cmp.Diff(want, memory.History(all, p)); diff != "" {
		t.Error(diff)
	}
	// A part costs a thousand tokens, a line next to nothing.
	p.Budget = 1020
	if diff := cmp.Diff(want[3:], memory.History(all, p)); diff != "" {
		t.Error(diff)
	}
}

func TestMessagesOfImagesOnly(t *testing.T) {
	row := rows("user ")[0]
	parts := []llm.Part{{Kind: llm.Document, MediaType: "application/pdf", Data: []byte("%PDF-")}, {Kind: llm.Image, URL: "https://example.com/a.png"}}
	if err := memory.Attach(&row, parts); err != nil {
		t.Fatal(err)
	}
	if row.TokenCount != 2*memory.PartTokens {
		t.Errorf("the row counts %d tokens", row.TokenCount)
	}
	if diff := cmp.Diff([]llm.Message{{Role: llm.User, Parts: parts}}, memory.History([]store.Message{row}, memory.Policy{KeepLast: 1})); diff != "" {
		t.Error(diff)
	}
	row.Parts = nil
	if diff := cmp.Diff([]llm.Message{{Role: llm.User, Content: "[document]\n[image]"}}, memory.History([]store.Message{row}, memory.Policy{KeepLast: 1})); diff != "" {
		t.Error(diff)
	}
}

// What other programs wrote is no reason to fail.
func TestForeignParts(t *testing.T) {
	for _, metadata := range []string{"", `{"attachments":7}`, `{"attachments":[]}`, `{"attachments":null,"x":1}`} {
		all := rows("user hi", "user ")
		for i := range all {
			all[i].Parts, all[i].Metadata = []byte(`[7]`), []byte(metadata)
		}
		if diff := cmp.Diff([]string{"user hi"}, show(memory.History(all, memory.Policy{KeepLast: 5}))); diff != "" {
			t.Errorf("%s: %s", metadata, diff)
		}
	}
}

// However large the newest images are, a request has a bound.
func TestPartsAreBounded(t *testing.T) {
	all := photos(t, 3)
	for i := range all {
		if all[i].Parts != nil {
			all[i].Parts = []byte(`[{"kind":"image","data":"` + strings.Repeat("AAAA", 3<<20) + `"}]`)
		}
	}
	whole := 0
	for _, m := range memory.History(all, memory.Policy{KeepLast: 6}) {
		whole += len(m.Parts)
	}
	if whole != 2 {
		t.Errorf("%d images of 12 MiB are shown, want 2", whole)
	}
}
