package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/testkit/hostile"
)

func TestLinks(t *testing.T) {
	src := "See [Sarah](people/sarah-chen.md), [again](./people/sarah-chen.md#role \"t\"), [web](https://x.org/a.md),\n" +
		"[mail](mailto:a@b.c) [here](#part) ![pic](pic.png) [d](data:text/plain,x) [[Project Alpha|alpha]] [[notes#x]]\n\n" +
		"`[code](code.md)` and [ref][r], <https://auto.link>, [folder](api/), [space](my%20page.md) [[]] [[ #x]]\n\n" +
		"```\n[fence](fence.md) [[fence]]\n```\n\n    [indented](code.md)\n\n> [quoted](q.md)\n\n[r]: other/ref.md\n[x](//host/a.md)\n"
	var got []string
	for _, l := range Links([]byte(src)) {
		got = append(got, fmt.Sprintf("%s %v %.7s", l.Dest, l.Wiki, src[l.Pos:]))
	}
	if diff := cmp.Diff([]string{
		"people/sarah-chen.md false [Sarah]", "./people/sarah-chen.md false [again]", "Project Alpha true [[Proje",
		"notes true [[notes", "other/ref.md false [ref][r", "api/ false [folder", "my page.md false [space]", "q.md false [quoted",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestHostile: the time for nesting and unclosed markup grows with the length only.
func TestHostile(t *testing.T) {
	for _, s := range []string{">", "- ", "[", "[[a", "*a_", "a](", "[a](b", "<a", "`"} {
		paragraph := strings.Repeat(s, maxParagraph/len(s)-1) + "\n\n"
		Links([]byte(strings.Repeat(paragraph, (64<<10)/len(paragraph))))
		Links([]byte(strings.Repeat(s, (64<<10)/len(s))))
	}
}

// TestBounds: text beyond a bound is ignored, text beside it is not.
func TestBounds(t *testing.T) {
	const link = "[a](a.md)\n\n"
	for name, s := range map[string]string{
		"quotations":  string(hostile.QuotesMarkdown()[:256<<10]),
		"lists":       string(hostile.ListsMarkdown()[:256<<10]),
		"brackets":    strings.Repeat(strings.Repeat("[", 4000)+"\n\n", 64),
		"indentation": strings.Repeat(strings.Repeat(" ", 1000)+"- x\n", 256) + "\n",
	} {
		if got := bounded([]byte(s)); len(bytes.TrimSpace(got)) > 0 {
			t.Errorf("%s: %.50q is left", name, bytes.TrimSpace(got))
		}
		if n := len(Links([]byte(link + s + "\n\n" + link))); n != 2 {
			t.Errorf("%s: %d links beside it, want 2", name, n)
		}
	}
	deep := strings.Repeat("> ", maxMarkers-1) + "[b](b.md)\n\nA\n" + strings.Repeat("-", 60) + "\n\n" + link
	if n := len(Links([]byte(deep))); n != 2 {
		t.Errorf("%d links of a page within the bounds, want 2", n)
	}
}

func TestSplitFront(t *testing.T) {
	for in, want := range map[string]string{
		"---\na: 1\n---\nbody":     "a: 1\n|body",
		"---\r\na: 1\r\n---\r\nb":  "a: 1\r\n|b",
		"---\na: 1\n...\nbody":     "a: 1\n|body",
		"---\n---\nbody":           "|body",
		"---\nnever ends":          "|---\nnever ends",
		"no front":                 "|no front",
		"--- \nx\n---\n":           "|--- \nx\n---\n",
		"---\na: |\n  ---\n---\nb": "a: |\n  ---\n|b",
	} {
		front, body := SplitFront(in)
		if got := front + "|" + in[body:]; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzLinks(f *testing.F) {
	f.Add("[a](b.md) [[c|d]] `[e](f)` \n\n> [g](h \"i\")\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, l := range Links([]byte(s)) {
			if l.Dest == "" || l.Pos < 0 || l.Pos >= len(s) {
				t.Errorf("a link to %q at %d of %d", l.Dest, l.Pos, len(s))
			}
		}
		front, body := SplitFront(s)
		if body < 0 || body > len(s) || front != "" && !strings.Contains(s[:body], front) {
			t.Errorf("front matter %q, body at %d", front, body)
		}
	})
}
