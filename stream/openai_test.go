package stream_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

// checkFrames checks a stream as public clients do.
func checkFrames(t *testing.T, f stream.Format, out []byte) {
	t.Helper()
	var roles, finishes, failures, dones int
	for frame := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n\n"), "\n\n") {
		if strings.HasPrefix(frame, ":") || strings.HasPrefix(frame, "id:") || strings.Contains(frame, "\nid:") {
			t.Fatalf("an id or a comment within the events: %q", frame)
		}
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
		if typed := name != "" || strings.HasPrefix(data, `{"event"`); typed && f != stream.Polyglot && f != stream.Unnamed {
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
	native := f == stream.Unnamed || f == stream.Polyglot || f == stream.None
	switch {
	case failures > 0 && (!native || failures > 1 || finishes > 0 || dones > 0):
		t.Errorf("%s: %d error frames, %d finish chunks, %d [DONE]", f, failures, finishes, dones)
	case failures == 0 && dones != 1:
		t.Errorf("%s: %d [DONE]", f, dones)
	case failures == 0 && native && (roles != 1 || finishes != 1):
		t.Errorf("%s: %d roles, %d finish chunks", f, roles, finishes)
	}
}

// TestReservedKeys: the fields of a typed event must not collide with those of its chunk.
func TestReservedKeys(t *testing.T) {
	reserved := []string{"type", "agent", "run_id", "seq", "id", "object", "created", "model", "choices", "usage", "error"}
	for _, d := range []event.Data{
		&event.ProgressData{}, &event.ToolCallData{}, &event.ActionData{}, &event.ActionRequestData{},
		&event.MetadataData{}, &event.UsageData{}, &event.WarningData{}, &event.ErrorData{}, &event.DoneData{},
		&event.ChildRunData{},
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
	e := stream.New(stream.ProtocolOpenAI, &out, stream.Options{OpenAI: stream.OpenAIOptions{Format: stream.None}})
	_ = e.Write(event.New(&event.UsageData{InputTokens: 1}))
	_ = e.Write(event.New(&event.DoneData{Reason: event.ReasonStop}))
	if strings.Contains(out.String(), "usage") {
		t.Error(out.String())
	}
}

// TestBadRawJSON: a result that is not JSON is a bug, and must not become a broken frame.
func TestBadRawJSON(t *testing.T) {
	var out bytes.Buffer
	e := stream.New(stream.ProtocolOpenAI, &out, stream.Options{})
	err := e.Write(event.New(&event.ToolCallData{Result: json.RawMessage(`{"a`)}))
	if err == nil || out.Len() > 0 {
		t.Errorf("err %v, wrote %q", err, out.String())
	}
}

func TestParseFormat(t *testing.T) {
	for f := stream.Auto; f <= stream.None; f++ {
		if got, err := stream.ParseFormat(f.String()); got != f || err != nil {
			t.Errorf("%s: %s, %v", f, got, err)
		}
	}
	if f, err := stream.ParseFormat(""); f != stream.Auto || err != nil {
		t.Error(f, err)
	}
	if _, err := stream.ParseFormat("sse"); err == nil || !strings.Contains(err.Error(), "auto, unnamed, polyglot, named, wrapped or none") {
		t.Error(err)
	}
}

// TestFormatFor: OpenAI's SDKs of any age and language get frames without names; an
// explicit format wins.
func TestFormatFor(t *testing.T) {
	for name, tt := range map[string]struct {
		format stream.Format
		header http.Header
		want   stream.Format
	}{
		"nothing":          {want: stream.Polyglot},
		"curl":             {header: http.Header{"User-Agent": {"curl/8.5.0"}}, want: stream.Polyglot},
		"npm openai":       {header: http.Header{"User-Agent": {"OpenAI/JS 5.8.0"}}, want: stream.Unnamed},
		"Python":           {header: http.Header{"User-Agent": {"AsyncOpenAI/Python 1.3.0"}}, want: stream.Unnamed},
		"Azure":            {header: http.Header{"User-Agent": {"AzureOpenAI/Python 2.54.0"}}, want: stream.Unnamed},
		"Stainless":        {header: http.Header{"X-Stainless-Lang": {"python"}}, want: stream.Unnamed},
		"a version":        {header: http.Header{"X-Stainless-Package-Version": {"4.20.0"}}, want: stream.Unnamed},
		"an own agent":     {header: http.Header{"User-Agent": {"shop/1"}, "X-Stainless-Lang": {"js"}}, want: stream.Unnamed},
		"a format":         {format: stream.Named, header: http.Header{"X-Stainless-Lang": {"js"}}, want: stream.Named},
		"unnamed for curl": {format: stream.Unnamed, want: stream.Unnamed},
	} {
		if got := tt.format.For(tt.header); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestUnnamed: a polyglot stream without its "event:" lines is an unnamed one.
func TestUnnamed(t *testing.T) {
	names := regexp.MustCompile(`(?m)^event: .*\n`)
	for _, tr := range transcripts(t) {
		polyglot := encode(t, stream.ProtocolOpenAI, tr.options(stream.Polyglot), tr.events)
		unnamed := encode(t, stream.ProtocolOpenAI, tr.options(stream.Unnamed), tr.events)
		if want := names.ReplaceAll(polyglot, nil); !bytes.Equal(unnamed, want) {
			t.Errorf("%s:\n%s\nwant\n%s", tr.name, unnamed, want)
		}
		checkFrames(t, stream.Unnamed, unnamed)
	}
}
