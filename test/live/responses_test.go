package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// responseFrame is a frame of a stream of the Responses API.
type responseFrame struct {
	Type     string `json:"type"`
	Number   int    `json:"sequence_number"`
	Delta    string `json:"delta"`
	Response struct {
		ID     string `json:"id"`
		Output []struct {
			Type    string `json:"type"`
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"output"`
	} `json:"response"`
	data string
}

// text is the text of the final output.
func (f *responseFrame) text() string {
	var b strings.Builder
	for _, item := range f.Response.Output {
		for _, part := range item.Content {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// readResponse reads whole frames, up to the one that is enough, or the end of the stream.
func readResponse(c *client, enough func(f *responseFrame) bool) (frames []responseFrame) {
	var data string
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return frames
		}
		if after, found := strings.CutPrefix(line, "data: "); found {
			data = after
		}
		if line != "\n" || data == "" {
			continue
		}
		f := responseFrame{data: data}
		if json.Unmarshal([]byte(data), &f) != nil {
			return frames
		}
		data, frames = "", append(frames, f)
		if enough != nil && enough(&f) {
			return frames
		}
	}
}

// A response in the background survives kill -9 of its server between two reads: both
// together are the whole stream, once.
func TestResponseOutlivesTheServer(t *testing.T) {
	everywhere(t, func(t *testing.T, p *place) {
		p.options.Env = append(p.options.Env, "P8_RUN_ATTEMPTS=100", "P8_RUN_GRACE=2s")
		s := p.serve(t)
		end := say("word", 40, pace)
		steps := []step{do(use("first", t.Name())), do(ask("child", do(use("first", t.Name()+"-c")), say("below", 5, 0))), end.holding(t.Name())}
		want := say("below", 5, 0).spoken() + "\n\n" + end.spoken()

		c := open(t, http.MethodPost, s.URL+"/v1/responses", object("model", "root", "input", act(steps...), "background", true, "stream", true))
		words := 0
		first := readResponse(c, func(f *responseFrame) bool {
			if strings.HasPrefix(f.Delta, "word") {
				words++
			}
			return words == 10
		})
		if words < 10 {
			t.Fatalf("the first stream ended after %d frames", len(first))
		}
		s.Kill()
		c.stop()
		s = p.serve(t) // of PostgreSQL's, it takes over when the dead one is silent for its grace
		url := s.URL + "/v1/responses/" + first[0].Response.ID
		last := first[len(first)-1].Number
		second := readResponse(open(t, http.MethodGet, fmt.Sprintf("%s?stream=true&starting_after=%d", url, last), ""), nil)

		whole := slices.Concat(first, second)
		for i, f := range whole {
			if f.Number != i {
				t.Fatalf("frame %d has the number %d", i, f.Number)
			}
		}
		final := whole[len(whole)-1]
		if final.Type != "response.completed" || final.text() != want {
			t.Errorf("it ends with %s and the text\n %q\nwant\n %q", final.Type, final.text(), want)
		}
		if i := slices.IndexFunc(whole, func(f responseFrame) bool { return strings.Contains(f.data, `"type":"restart"`) }); i <= last {
			t.Errorf("the restart is frame %d, want one after %d", i, last)
		}
		replay := readResponse(open(t, http.MethodGet, url+"?stream=true", ""), nil)
		for i := range max(len(whole), len(replay)) {
			if i >= len(whole) || i >= len(replay) || stages(whole[i]) != stages(replay[i]) {
				t.Fatalf("frame %d of %d differs in the replay of %d", i, len(whole), len(replay))
			}
		}
		for what, n := range p.desk.did() {
			if n != 1 {
				t.Errorf("%s was called %d times", what, n)
			}
		}
		s.Stop(t)
	})
}

// stages is a frame without the whole response, which repeats fields of the request only to
// the client that sent it.
func stages(f responseFrame) string {
	if f.Response.ID != "" {
		return f.Type + f.text()
	}
	return f.data
}
