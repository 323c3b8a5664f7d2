package live_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"
)

// pace is the time between two pieces of a slow answer.
const pace = 5 * time.Millisecond

// fleeting are the fields of frames that depend on the reader: the time of reading, and
// the name of the model (OpenAI's clients get the requested name).
var fleeting = []string{"timestamp", "created", "model"}

// lasting returns the part of the frames that every reading must repeat.
func lasting(frames []frame) []string {
	out := make([]string, len(frames))
	for i, f := range frames {
		fields := maps.Clone(f.fields)
		for _, name := range fleeting {
			delete(fields, name)
		}
		out[i] = f.name + " " + fmt.Sprint(fields)
		if fields == nil {
			out[i] += f.data
		}
	}
	return out
}

func protocols(t *testing.T, test func(t *testing.T, protocol string)) {
	for _, protocol := range []string{events, agui, aisdk, openai} {
		t.Run(protocol, func(t *testing.T) { test(t, protocol) })
	}
}

// same compares a stream that was read in pieces with one that was not.
func same(t *testing.T, got, want []frame) {
	t.Helper()
	a, b := lasting(got), lasting(want)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("frame %d\n got  %s\n want %s", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%d frames, want %d; the last are\n got  %s\n want %s", len(a), len(b), a[len(a)-1], b[len(b)-1])
	}
}

// A client that is cut off at any place and comes back with the number of the last
// event that it has gets exactly the rest.
func TestClientsComeBack(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		s := p.serve(t)
		protocols(t, func(t *testing.T, protocol string) {
			answer := say("word", 120, pace)
			child := ask("child", do(use("first", "c"+protocol)), say("below", 20, pace))
			text := act(do(use("first", protocol), child), answer)
			c := begin(t, s, protocol, protocol, text)
			run, got := c.run, []frame(nil)
			for _, pieces := range []int{3, 4, 9, 1} {
				c.until(t, protocol, pieces)
				c.stop()
				got = append(got, c.frames...)
				c = again(t, s, run, protocol, c.last)
			}
			got = append(got, c.all().frames...)
			whole := again(t, s, run, protocol, 0).all()
			same(t, got, whole.frames)
			story := oneStory(t, s, protocol, run)
			if said := whole.said(protocol); protocol == events && said != story {
				t.Errorf("the stream says %q, the row %q", said, story)
			}
		})
	})
}

// GET /chat/{id}/stream finds the run by its session: from the beginning, or from
// where the client left it.
func TestSessionsStream(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		s := p.serve(t)
		protocols(t, func(t *testing.T, protocol string) {
			path := "/chat/" + protocol + "/stream"
			answer := say("word", 30, pace).holding(t.Name()) // it goes on until all streams are open
			c := begin(t, s, protocol, protocol, act(do(use("first", protocol)), answer))
			c.until(t, protocol, 5)
			c.stop()
			rest := open(t, http.MethodGet, s.URL+path, "", "Last-Event-ID", fmt.Sprint(c.last))
			full := open(t, http.MethodGet, s.URL+path, "")
			if rest.run != c.run || full.run != c.run {
				t.Errorf("runs %s, %s, want %s", rest.run, full.run, c.run)
			}
			release(t.Name())
			full.all()
			same(t, slices.Concat(c.frames, rest.all().frames), full.frames)
			if got, want := full.said(protocol), answer.spoken(); got != want {
				t.Errorf("said %q, want %q", got, want)
			}
			res, stop := request(t, http.MethodGet, s.URL+path, "")
			defer stop()
			defer res.Body.Close()
			if res.StatusCode != http.StatusNoContent {
				t.Errorf("when nothing runs, the status is %d", res.StatusCode)
			}
		})
	})
}

// Readers come and go: each sees every event once and in order, and the run does not
// notice them.
func TestCrowdOfReaders(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	s := p.serve(t)
	c := begin(t, s, "s", events, act(do(use("first", "a")), say("word", 200, pace)))
	c.until(t, events, 1)
	type read struct {
		got []frame
		err error
	}
	reads := make(chan read)
	for i := range 24 {
		go func() {
			var r read
			after := int64(0)
			for r.err == nil {
				piece := again(t, s, c.run, events, after)
				more := true
				for n := 0; n < 10+i && more; n++ {
					more = piece.next()
				}
				r.got, after, r.err = append(r.got, piece.frames...), max(after, piece.last), piece.failed
				piece.stop()
				if !more {
					break
				}
			}
			reads <- r
		}()
	}
	c.all()
	for range 24 {
		select {
		case r := <-reads:
			if r.err != nil {
				t.Fatal(r.err)
			}
			same(t, r.got, c.frames)
		case <-time.After(patience):
			t.Fatal("a reader does not end")
		}
	}
	if got, want := oneStory(t, s, "s", c.run), say("word", 200, 0).spoken(); got != want {
		t.Errorf("said %q", got)
	}
}
