package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/memory"
)

func TestExtract(t *testing.T) {
	for name, said := range map[string][]string{
		"en": {
			"user Hi there! Can you help me to plan the move of our office in Lisbon? My name is Ana Sousa, e.g. for the letters.",
			"assistant Of course! I would be happy to help you with that. Moving an office takes some planning.\n\n## Steps\n- Find a mover\n- Pack",
			"call c1 search {}", "result c1 Movers in Lisbon: 17", "think hm",
			"user We decided to move on 2026-03-14. The budget is 4,500 €, and the alarm code is \"heron 77\". Thanks.",
			"assistant Noted: the move is on 14 March 2026, with a budget of 4,500 €. I will remember the alarm code. Let me know what else you need.",
			"user ok", "assistant Great. Have a nice day. Have a nice day. Have a nice day.",
		},
		"de": {
			"user Guten Tag, ich heiße Jürgen Müller. Wann kommt meine Bestellung Nr. 4711 an?",
			"assistant Ihre Bestellung 4711 kommt am 3. Mai. Das Paket wird von Hermes geliefert. Gern helfe ich Ihnen weiter.",
			"user Bitte merken: Das Paket soll zu Frau Weiß, Gartenstraße 12. Wir haben das so vereinbart.",
		},
		"ja":      {"user 会議はいつですか。東京で会いたいです。", "assistant 会議は三月十四日です。東京駅の近くです。"},
		"nothing": {"call c1 search {}", "result c1 x"},
	} {
		t.Run(name, func(t *testing.T) {
			s := memory.Extract(rows(said...))
			golden.Compare(t, "testdata/extract-"+name+".golden", s.Text+"\n--- "+strings.Join(s.Topics, ", ")+"\n")
		})
	}
}

// Of a long talk the facts are kept, not the words around them.
func TestExtractKeepsFacts(t *testing.T) {
	var said []string
	for i := range 60 {
		q, a := fmt.Sprintf("user And what about item %d?", i), "assistant "+strings.Repeat(fmt.Sprintf("Well, as for item %d, there is a lot to say about it in general. ", i), 3)
		switch i {
		case 20:
			q = `user By the way, the password of the vault is "blue heron" and my sister is called Margarida.`
		case 40:
			a += "The contract with Siemens ends on 2027-06-30."
		}
		said = append(said, q, a)
	}
	s := memory.Extract(rows(said...))
	for _, fact := range []string{"blue heron", "Margarida", "Siemens ends on 2027-06-30", "And what about item 0?"} {
		if !strings.Contains(s.Text, fact) {
			t.Errorf("%s is lost in\n%s", fact, s.Text)
		}
	}
	if n := utf8.RuneCountInString(s.Text); n > 2000 || n < 1500 {
		t.Errorf("the summary has %d characters", n)
	}
	if !slices.Contains(s.Topics, "item") || len(s.Topics) < 3 || len(s.Topics) > 8 {
		t.Errorf("the topics are %v", s.Topics)
	}
}

// Whatever was said: a summary is never empty, never too long, and always the same.
func TestExtractIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := session(t)
		s := memory.Extract(all)
		again := memory.Extract(all)
		if n := utf8.RuneCountInString(s.Text); n == 0 || n > 2000 || !utf8.ValidString(s.Text) || s.Text != again.Text || !slices.Equal(s.Topics, again.Topics) {
			t.Fatalf("%d characters: %q, %q", n, s.Text, again.Text)
		}
		if len(s.Topics) > 8 {
			t.Fatalf("the topics are %v", s.Topics)
		}
	})
}

func FuzzExtract(f *testing.F) {
	f.Add("Hi. My name is Ada!\n- \"x\" 12:30", "日本語。\xff\x00 e.g. 3. May")
	f.Fuzz(func(t *testing.T, q, a string) {
		s := memory.Extract(rows("user "+q, "assistant "+a))
		if utf8.RuneCountInString(s.Text) > 2000 || s.Text == "" {
			t.Errorf("got %q", s.Text)
		}
	})
}
