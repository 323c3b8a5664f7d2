package stream_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// responseFrame is a frame of a response's stream, as far as the check reads it.
type responseFrame struct {
	Type     string          `json:"type"`
	Number   *int64          `json:"sequence_number"`
	Index    *int            `json:"output_index"`
	ItemID   string          `json:"item_id"`
	Item     responseItem    `json:"item"`
	Delta    string          `json:"delta"`
	Text     string          `json:"text"`
	Response json.RawMessage `json:"response"`
}

type responseItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Arguments string `json:"arguments"`
}

func responseFrames(t testing.TB, out []byte) (frames []responseFrame) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n\n") {
		name, data, _ := strings.Cut(block, "\n")
		var f responseFrame
		if err := json.Unmarshal([]byte(strings.TrimPrefix(data, "data: ")), &f); err != nil || name != "event: "+f.Type {
			t.Fatalf("%v: %s", err, block)
		}
		frames = append(frames, f)
	}
	return frames
}

// checkResponses follows a stream as a strict client does: numbers without a gap, each item
// begun once and ended once with what its deltas said, and a final response whose items
// are those. whole is the response that is not streamed, nil for none.
func checkResponses(t testing.TB, out, whole []byte) {
	t.Helper()
	open, said, ended := map[int]string{}, map[int]string{}, map[string]string{}
	var items int
	var last responseFrame
	for i, f := range responseFrames(t, out) {
		if f.Number == nil || *f.Number != int64(i) {
			t.Fatalf("frame %d has another number: %+v", i, f)
		}
		last = f
		switch {
		case f.Type == "response.output_item.added":
			if *f.Index != items || f.Item.Status != "in_progress" && f.Item.Type != "mcp_approval_request" {
				t.Fatalf("%s: %+v", f.Type, f)
			}
			items++
			open[*f.Index] = f.Item.ID
		case f.Type == "response.output_item.done":
			text := f.Item.Arguments
			for _, c := range f.Item.Content {
				text += c.Text
			}
			if open[*f.Index] != f.Item.ID || f.Item.Type != "reasoning" && f.Item.Type != "mcp_approval_request" && text != said[*f.Index] {
				t.Fatalf("%s: %+v after %q", f.Type, f, said[*f.Index])
			}
			delete(open, *f.Index)
			ended[f.Item.ID] = f.Item.Status
		case f.Index != nil:
			if open[*f.Index] != f.ItemID {
				t.Fatalf("%+v is about no open item", f)
			}
			if strings.HasSuffix(f.Type, ".delta") {
				said[*f.Index] += f.Delta
			}
		}
	}
	var final struct {
		Output []responseItem `json:"output"`
	}
	if last.Response == nil {
		return // the run has not ended
	}
	if err := json.Unmarshal(last.Response, &final); err != nil || len(open) > 0 {
		t.Fatalf("%v, open: %v, last: %s", err, open, last.Type)
	}
	for _, it := range final.Output {
		if status, done := ended[it.ID]; !done || status != it.Status {
			t.Fatalf("the final output has %+v", it)
		}
	}
	if whole != nil && !bytes.Equal(bytes.TrimSpace(whole), last.Response) {
		t.Errorf("not streamed it is\n%s\nstreamed\n%s", whole, last.Response)
	}
}

// respond returns the response that is not streamed.
func (tr *transcript) respond(t testing.TB) []byte {
	t.Helper()
	o := tr.options(0)
	r := stream.NewResponse(o.Reader, o.Responses)
	for _, ev := range tr.events {
		if err := r.Add(ev); err != nil {
			t.Fatal(err)
		}
	}
	out, err := r.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestStartingAfter: a client that has some frames gets exactly the rest, whether or not
// the run was resumed meanwhile.
func TestStartingAfter(t *testing.T) {
	for _, tr := range transcripts(t) {
		o := tr.options(0)
		o.Responses.Stored = true
		whole := encode(t, stream.ProtocolResponses, o, tr.events)
		blocks := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n\n")), []byte("\n\n"))
		for n := range blocks {
			o.Responses.Skip = int64(n)
			for i := range tr.events {
				tr.events[i].Void = 1 // a later reader knows which events are void
			}
			rest := encode(t, stream.ProtocolResponses, o, tr.events)
			if got := slices.Concat(bytes.Join(blocks[:n], nil), rest); !bytes.Equal(got, whole) {
				t.Fatalf("%s, after %d frames:\n%s\nwant\n%s", tr.name, n, got, whole)
			}
		}
	}
}

// TestLostNumbers: a reader that had events which died with the process gets everything
// from the restart on, under numbers that it has not seen.
func TestLostNumbers(t *testing.T) {
	text := func(seq int64, s string) event.Event {
		return event.Event{Type: event.Text, RunID: "r", Agent: "general", Seq: seq, Text: s}
	}
	o := stream.Options{Responses: stream.ResponsesOptions{ID: "resp_1"}}
	shown := responseFrames(t, encode(t, stream.ProtocolResponses, o, []event.Event{text(1, "a"), text(2, "lost"), text(3, "lost")}))
	o.Responses.Skip = *shown[len(shown)-1].Number + 1
	cut := &event.RestartData{LastSeq: 1, Runs: []event.CutRun{{RunID: "r", Agent: "general"}}}
	rest := encode(t, stream.ProtocolResponses, o, []event.Event{
		text(1, "a"), {Type: event.Restart, RunID: "r", Agent: "general", Seq: 2050, Data: cut}, text(4000, "b"),
		{Type: event.Done, RunID: "r", Agent: "general", Seq: 4001, Data: &event.DoneData{Reason: event.ReasonStop}},
	})
	frames := responseFrames(t, rest)
	if frames[0].Type != "response.output_text.delta" || *frames[0].Number < o.Responses.Skip {
		t.Errorf("the rest begins with %+v", frames[0])
	}
	if final := string(frames[len(frames)-1].Response); !strings.Contains(final, `"text":"b"`) || strings.Contains(final, `"text":"a`) {
		t.Errorf("the final response is %s", final)
	}
}

// TestUnfinishedResponse: a response is read while its run goes on.
func TestUnfinishedResponse(t *testing.T) {
	o := stream.ResponsesOptions{ID: "resp_1", Model: "general", Created: created, Request: stream.NewResponseRequest()}
	o.Request.Background = true
	r := stream.NewResponse(stream.Reader{}, o)
	status := func() string {
		out, err := r.Append(nil)
		var got struct {
			Status string            `json:"status"`
			Output []json.RawMessage `json:"output"`
		}
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatal(err, string(out))
		}
		return fmt.Sprintf("%s %s", got.Status, got.Output)
	}
	if got := status(); got != "queued []" {
		t.Error(got)
	}
	if err := r.Add(event.Event{Type: event.Text, RunID: "r", Agent: "a", Seq: 1, Text: "so far"}); err != nil {
		t.Fatal(err)
	}
	if got := status(); !strings.HasPrefix(got, "in_progress") || !strings.Contains(got, "so far") {
		t.Error(got)
	}
}
