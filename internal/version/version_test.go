package version_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/version"
)

const versioned = `name: clerk
version: 1.2.3
description: You answer.
type: object
structured_output: true
properties:
  answer: {type: string, description: The answer.}
  score: {type: integer, minimum: 0, maximum: 10}
  mood: {type: string, enum: [good, bad]}
  sources:
    type: array
    items: {type: object, properties: {url: {type: string}}, required: [url]}
required: [answer, score]
tools:
  - name: search
  - {name: fetch, server: web, description: Reads a page.}
`

func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", "", "", ""},
		{"a prompt", "You answer.", "You answer well.", `PATCH description: "You answer." is now "You answer well."`},
		{"the description of a field", "The answer.", "An answer.", `PATCH properties.answer.description: "The answer." is now "An answer."`},
		{"the description of a tool", "Reads a page.", "Reads one page.", `PATCH tools.web/fetch.description: changed`},
		{"a required field goes", "  score: {type: integer, minimum: 0, maximum: 10}\n", "", `MAJOR properties.score: the required field is gone`},
		{"an optional field goes", "  mood: {type: string, enum: [good, bad]}\n", "", `MINOR properties.mood: the optional field is gone`},
		{"an optional field comes", "  mood:", "  hint: {type: string}\n  mood:", `MINOR properties.hint: an optional field is new`},
		{"a field must be there", "required: [answer, score]", "required: [answer, score, mood]", `MAJOR properties.mood: the field is required now`},
		{"a field may be missing", "required: [answer, score]", "required: [answer]", `MAJOR properties.score: the field is not required any more`},
		{"another type", "score: {type: integer", "score: {type: string", `MAJOR properties.score.type: "integer" is now "string"`},
		{"a wider type", "score: {type: integer", "score: {type: number", `MINOR properties.score.type: "integer" is now "number"`},
		{"one type more", "answer: {type: string", `answer: {type: [string, "null"]`, `MINOR properties.answer.type: "string" is now ["string","null"]`},
		{"one value more", "[good, bad]", "[good, bad, none]", `MINOR properties.mood.enum: ["good","bad"] is now ["good","bad","none"]`},
		{"one value less", "[good, bad]", "[good]", `MAJOR properties.mood.enum: ["good","bad"] is now ["good"]`},
		{"a wider bound", "maximum: 10", "maximum: 100", `MINOR properties.score.maximum: 10 is now 100`},
		{"a narrower bound", "minimum: 0", "minimum: 1", `MAJOR properties.score.minimum: 0 is now 1`},
		{"deep below", "url: {type: string}", "url: {type: integer}", `MAJOR properties.sources.items.properties.url.type: "string" is now "integer"`},
		{"a tool goes", "  - name: search\n", "", `MAJOR tools.search: removed`},
		{"a tool comes", "  - name: search\n", "  - name: search\n  - name: lookup\n", `MINOR tools.lookup: added`},
		{"a tool of another server", "server: web", "server: net", "MAJOR tools.web/fetch: removed\nMINOR tools.net/fetch: added"},
		{"a model", "type: object", "model: openai:gpt-4.1\ntype: object", `MINOR model: added: "openai:gpt-4.1"`},
		{"text instead of JSON", "structured_output: true\n", "", `MAJOR structured_output: removed; it was true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(versioned, c.old, c.new, 1)
			if c.name == "a required field goes" {
				changed = strings.Replace(changed, "[answer, score]", "[answer]", 1)
			}
			if c.old != c.new && changed == versioned {
				t.Fatal("nothing was replaced")
			}
			var lines []string
			for _, x := range version.Compare(parsed(t, versioned), parsed(t, changed)) {
				lines = append(lines, fmt.Sprintf("%v %s: %s", x.Level, x.Path, x.What))
			}
			if got := strings.Join(lines, "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func parsed(t *testing.T, text string) *agent.Document {
	t.Helper()
	d, err := agent.Parse("clerk.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		before, after string
		level         version.Level
		want          string
	}{
		{"1.2.3", "1.2.3", version.Patch, ""},
		{"1.2.3", "1.2.4", version.Patch, ""},
		{"1.2.3", "1.2.4", version.Minor, "version 1.2.4 after 1.2.3 says less than what changed: x: y (MINOR): write 1.3.0"},
		{"1.2.3", "1.2.3", version.Major, "version 1.2.3 after 1.2.3 says less than what changed: x: y (MAJOR): write 2.0.0"},
		{"1.2.3", "1.3.0", version.Minor, ""},
		{"1.2.3", "2.0.0", version.Minor, ""},
		{"1.2.3", "v3.0.0-beta", version.Major, ""},
		{"1.2.3", "1.2.2", version.Patch, "version 1.2.2 is lower than the stored 1.2.3: write 1.2.4"},
		{"1.2.3", "1.2.2", 0, ""},
		{"", "1.0.0", version.Major, ""},
		{"one", "1.0.0", version.Major, ""},
	} {
		var list version.Changes
		if c.level > 0 {
			list = version.Changes{{Level: c.level, Path: "x", What: "y"}}
		}
		err := version.Check(c.before, c.after, list)
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%s → %s, %v: got %q, want %q", c.before, c.after, c.level, got, c.want)
		}
	}
}
