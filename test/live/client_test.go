package live_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// The protocols, by the names that ?protocol= takes.
const (
	events = "events"
	agui   = "ag-ui"
	aisdk  = "ai-sdk"
	openai = "openai"
)

// frame is one server-sent event.
type frame struct {
	name, data string
	// fields are those of the data where it is an object.
	fields map[string]any
}

// at is a field, by its path.
func (f frame) at(path ...string) any {
	var v any = f.fields
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			if n, err := strconv.Atoi(name); err == nil && n < len(x) {
				v = x[n]
				continue
			}
			return nil
		default:
			return nil
		}
	}
	return v
}

// kind is the type of a frame.
func (f frame) kind() string { s, _ := f.at("type").(string); return s }

// text is the piece of an answer that the frame carries.
func (f frame) text(protocol string) string {
	var v any
	switch protocol {
	case openai:
		v = f.at("choices", "0", "delta", "content")
	case agui:
		if f.kind() == "TEXT_MESSAGE_CONTENT" {
			v = f.at("delta")
		}
	case aisdk:
		if f.kind() == "text-delta" {
			v = f.at("delta")
		}
	case events:
		if f.kind() == "text" {
			v = f.at("text")
		}
	}
	s, _ := v.(string)
	return s
}

// client reads a stream.
type client struct {
	header http.Header
	run    string
	lines  *bufio.Reader
	stop   func()
	// last is the number of the last event; frames are the frames up to it.
	last   int64
	frames []frame
	failed error
}

// request sends a request; pairs are headers. The answer's body is the caller's.
func request(t testing.TB, method, url, body string, pairs ...string) (*http.Response, func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(pairs); i += 2 {
		req.Header.Set(pairs[i], pairs[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	return res, stop
}

// open opens a stream.
func open(t testing.TB, method, url, body string, pairs ...string) *client {
	t.Helper()
	res, stop := request(t, method, url, body, pairs...)
	if res.StatusCode != http.StatusOK {
		out, _ := io.ReadAll(res.Body)
		stop()
		t.Fatalf("%s %s: status %d: %s", method, url, res.StatusCode, out)
	}
	c := &client{header: res.Header, run: res.Header.Get("X-Run-Id"), lines: bufio.NewReader(res.Body)}
	c.stop = func() {
		stop()
		res.Body.Close()
	}
	t.Cleanup(c.stop)
	return c
}

// begin begins a turn of the agent root.
func begin(t testing.TB, s *harness.Server, session, protocol, text string, pairs ...string) *client {
	t.Helper()
	path, body := "/chat/"+session, object("messages", []any{map[string]any{"id": "m", "role": "user", "content": text}})
	switch protocol {
	case openai:
		path, body = "/v1/chat/completions", object("model", "root", "stream", true, "messages", []any{map[string]any{"role": "user", "content": text}})
	case aisdk:
		path = "/api" + path
		body = object("id", session, "messages", []any{map[string]any{"id": "m", "role": "user", "parts": []any{map[string]any{"type": "text", "text": text}}}})
	case events:
		path += "?protocol=events"
	}
	return open(t, http.MethodPost, s.URL+path, body, append([]string{"X-Session-Id", session, "X-Agent-Schema", "root"}, pairs...)...)
}

// again reopens the run's stream after the events that the client has.
func again(t testing.TB, s *harness.Server, run, protocol string, after int64) *client {
	t.Helper()
	pairs := []string{"Accept", "text/event-stream"}
	if after > 0 {
		pairs = append(pairs, "Last-Event-ID", strconv.FormatInt(after, 10))
	}
	return open(t, http.MethodGet, s.URL+"/runs/"+run+"/events?protocol="+protocol, "", pairs...)
}

// next reads up to the end of an event, and reports whether there was one. It drops the
// frames of an incomplete event: the client asks for them again.
func (c *client) next() bool {
	var f frame
	var fresh []frame
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			c.failed = err
			if err == io.EOF {
				c.failed = nil
				c.frames = append(c.frames, fresh...) // what belongs to no event, such as [DONE]
			}
			return false
		}
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "event":
			f.name = value
		case name == "data":
			f.data += value
		case name == "id":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				c.last = n
			}
			c.frames = append(c.frames, fresh...)
			return true
		case line == "\n" && f.data != "":
			_ = json.Unmarshal([]byte(f.data), &f.fields)
			chunk, _ := f.at("object").(string)
			number, numbered := f.at("seq").(float64)
			fresh, f = append(fresh, f), frame{}
			if chunk == "chat.completion.chunk" && numbered { // an OpenAI stream has no ids
				c.last = int64(number)
				c.frames = append(c.frames, fresh...)
				return true
			}
		}
	}
}

// until reads until the text has so many pieces.
func (c *client) until(t testing.TB, protocol string, pieces int) {
	t.Helper()
	for {
		n := 0
		for _, f := range c.frames {
			if f.text(protocol) != "" {
				n++
			}
		}
		if n >= pieces {
			return
		}
		if !c.next() {
			t.Fatalf("the stream ended (%v) after %d of %d pieces:\n%s", c.failed, n, pieces, c.show())
		}
	}
}

// all reads to the end.
func (c *client) all() *client {
	for c.next() {
	}
	return c
}

// said is the text so far, of events as one text is made of them.
func (c *client) said(protocol string) string {
	var text strings.Builder
	if protocol == events {
		var said event.Spoken
		for _, f := range c.frames {
			var e event.Event
			if json.Unmarshal([]byte(f.data), &e) == nil {
				said.Add(&e)
			}
		}
		return said.String()
	}
	for _, f := range c.frames {
		text.WriteString(f.text(protocol))
	}
	return text.String()
}

// show is the stream for people.
func (c *client) show() string {
	var out strings.Builder
	for _, f := range c.frames {
		out.WriteString(f.data + "\n")
	}
	return out.String()
}

// run is a run as GET /runs/{id} shows it.
type runState struct {
	ID        string `json:"id"`
	Status    string `json:"status"`
	Reason    string `json:"reason"`
	MessageID string `json:"message_id"`
	LastSeq   int64  `json:"last_seq"`
}

// awaitRun waits until the run has the status.
func awaitRun(t testing.TB, s *harness.Server, id, status string) runState {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		var r runState
		s.Get(t, "/runs/"+id, &r)
		if r.Status == status {
			return r
		}
		if time.Now().After(deadline) {
			t.Fatalf("the run is %s (%s), not %s", r.Status, r.Reason, status)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// answerOf is the assistant's row of a run.
func answerOf(t testing.TB, s *harness.Server, session, id string) harness.Row {
	t.Helper()
	for _, row := range s.Messages(t, session) {
		if row.ID == id {
			return row
		}
	}
	t.Fatalf("session %s has no row %s", session, id)
	return harness.Row{}
}

// lines reads a stream line by line.
func lines(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }
