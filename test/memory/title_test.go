package memory_test

import (
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// A small model titles a session after its first answer, once, if nobody has named it.
func TestTitles(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		p.Env = append(p.Env, "P8_TITLE_MODEL=openai:gpt-4.1-nano")
		s := harness.Serve(t, p.Options)
		title := func(session string) string {
			var sess struct {
				Title string `json:"title"`
			}
			get(t, s, alice, "/sessions/"+session, &sess)
			return sess.Title
		}
		named := alice.headers()
		named["X-Session-Name"] = "My own"
		s.Chat(t, harness.Ask{Agent: "diarist", Session: "named", Text: "Today I walked.", Headers: named})
		walk(t, s, alice, "walks", 2)
		await(t, "the title", func() bool { return title("walks") == modelTitle })
		if got := title("named"); got != "My own" {
			t.Errorf("the client's title is %q", got)
		}
		await(t, "the job", func() bool { return stats(t, s)["title"].States["completed"] == 1 })
		if n := p.model.times(titler); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}
