package stream_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"p8/event"
	"p8/stream"
	"p8/test/golden"
)

var created = time.Unix(1760000000, 0)

// TestOpenAITranscripts runs the events of every transcript through every
// format. The transcripts are the documentation of the wire.
func TestOpenAITranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/openai/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			events := parseEvents(t, ar.Files[0].Data)
			got := &txtar.Archive{Comment: ar.Comment, Files: ar.Files[:1:1]}
			for f := stream.Polyglot; f <= stream.None; f++ {
				out := encode(t, f, events)
				checkFrames(t, f, out)
				got.Files = append(got.Files, txtar.File{Name: f.String(), Data: out})
			}
			got.Files = append(got.Files, txtar.File{Name: "completion", Data: complete(t, events)})
			golden.Compare(t, file, string(txtar.Format(got)))
		})
	}
}

func parseEvents(t *testing.T, lines []byte) []event.Event {
	t.Helper()
	var events []event.Event
	for line := range bytes.Lines(bytes.TrimSpace(lines)) {
		var ev event.Event
		if err := json.Unmarshal(line, &ev); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		events = append(events, ev)
	}
	return events
}

func encode(t *testing.T, f stream.Format, events []event.Event) []byte {
	t.Helper()
	var out bytes.Buffer
	e := stream.NewOpenAI(&out, stream.OpenAIOptions{
		ID: "chatcmpl-1", Model: "general", Created: created, Format: f, IncludeUsage: true,
	})
	for _, ev := range events {
		if err := e.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func complete(t *testing.T, events []event.Event) []byte {
	t.Helper()
	var c stream.Completion
	for _, ev := range events {
		c.Add(ev)
	}
	if d := c.Err(); d != nil {
		return append(stream.AppendError(nil, stream.APIErrorOf(d)), '\n')
	}
	out, err := c.Append(nil, stream.CompletionOptions{ID: "chatcmpl-1", Model: "general", Created: created})
	if err != nil || !json.Valid(out) {
		t.Fatal(err, string(out))
	}
	return append(out, '\n')
}

// checkFrames holds a stream against what the public clients demand.
func checkFrames(t *testing.T, f stream.Format, out []byte) {
	t.Helper()
	var roles, finishes, failures, dones int
	for frame := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n\n"), "\n\n") {
		name, data := "", frame
		if rest, ok := strings.CutPrefix(frame, "event: "); ok {
			name, data, _ = strings.Cut(rest, "\n")
		}
		data, ok := strings.CutPrefix(data, "data: ")
		if !ok || strings.Contains(data, "\n") {
			t.Fatalf("bad frame %q", frame)
		}
		if data == "[DONE]" {
			dones++
			continue
		}
		var chunk struct {
			ID, Object, Model string
			Error             json.RawMessage
			Choices           []struct {
				Delta        struct{ Role string }
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("%v in %q", err, data)
		}
		if chunk.Error != nil {
			failures++
			continue
		}
		if f == stream.Polyglot && name == "error" {
			t.Error("clients throw at an event named error")
		}
		if typed := name != "" || strings.HasPrefix(data, `{"event"`); typed && f != stream.Polyglot {
			continue
		}
		if chunk.ID != "chatcmpl-1" || chunk.Object != "chat.completion.chunk" || chunk.Model == "" || chunk.Choices == nil {
			t.Errorf("not a chunk: %s", data)
		}
		for _, c := range chunk.Choices {
			if c.Delta.Role != "" {
				roles++
			}
			if c.FinishReason != "" {
				finishes++
			}
		}
	}
	native := f == stream.Polyglot || f == stream.None
	switch {
	case failures > 0 && (!native || failures > 1 || finishes > 0 || dones > 0):
		t.Errorf("%s: %d error frames, %d finish chunks, %d [DONE]", f, failures, finishes, dones)
	case failures == 0 && dones != 1:
		t.Errorf("%s: %d [DONE]", f, dones)
	case failures == 0 && native && (roles != 1 || finishes != 1):
		t.Errorf("%s: %d roles, %d finish chunks", f, roles, finishes)
	}
}

// TestReservedKeys: the fields of a typed event must not collide with those of
// the chunk that it shares an object with.
func TestReservedKeys(t *testing.T) {
	reserved := []string{"type", "agent", "id", "object", "created", "model", "choices", "usage", "error"}
	for _, d := range []event.Data{
		&event.ProgressData{}, &event.ToolCallData{}, &event.ActionData{}, &event.ActionRequestData{},
		&event.MetadataData{}, &event.UsageData{}, &event.WarningData{}, &event.ErrorData{}, &event.DoneData{},
	} {
		typ := reflect.TypeOf(d).Elem()
		for field := range typ.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			for _, r := range reserved {
				if name == r {
					t.Errorf("%s.%s is called %q", typ.Name(), field.Name, r)
				}
			}
		}
	}
}

func TestNoUsageUnlessAsked(t *testing.T) {
	var out bytes.Buffer
	e := stream.NewOpenAI(&out, stream.OpenAIOptions{Format: stream.None})
	_ = e.Write(event.New(&event.UsageData{InputTokens: 1}))
	_ = e.Write(event.New(&event.DoneData{Reason: event.ReasonStop}))
	if strings.Contains(out.String(), "usage") {
		t.Error(out.String())
	}
}

// TestBadRawJSON: a tool's result that is no JSON is a bug, and must not become
// a broken frame.
func TestBadRawJSON(t *testing.T) {
	var out bytes.Buffer
	e := stream.NewOpenAI(&out, stream.OpenAIOptions{})
	err := e.Write(event.New(&event.ToolCallData{Result: json.RawMessage(`{"a`)}))
	if err == nil || out.Len() > 0 {
		t.Errorf("err %v, wrote %q", err, out.String())
	}
}

func TestParseFormat(t *testing.T) {
	for f := stream.Polyglot; f <= stream.None; f++ {
		if got, err := stream.ParseFormat(f.String()); got != f || err != nil {
			t.Errorf("%s: %s, %v", f, got, err)
		}
	}
	if f, err := stream.ParseFormat(""); f != stream.Polyglot || err != nil {
		t.Error(f, err)
	}
	if _, err := stream.ParseFormat("sse"); err == nil || !strings.Contains(err.Error(), "polyglot, named, wrapped or none") {
		t.Error(err)
	}
}
