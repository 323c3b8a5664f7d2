package event_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
)

// lines is a log of events, numbered from 1.
func lines(events ...event.Event) []byte {
	var log []byte
	for i := range events {
		events[i].RunID, events[i].Seq = "run", int64(i+1)
		log = event.AppendLog(log, &events[i])
	}
	return log
}

func TestLogReadsWhatWasWritten(t *testing.T) {
	want := []event.Event{
		event.New(&event.ProgressData{Step: 1, TotalSteps: 3, Label: "<b> & </b>", Status: "in_progress"}),
		event.NewText("plain"),
		event.NewText("two\nlines, \"quoted\" \\ \t \r \b \f \x00 \x7f \u2028 <&> naïve 😀"),
		event.NewReasoning("hm"),
		event.NewText(""),
		{Type: event.Text, Agent: "general/child", Text: "of a child"},
		{Type: event.Text, Agent: `ge"ne/ral`, Text: "of another"},
		event.New(&event.ToolCallData{Name: "search", ID: "call_1", Status: event.ToolExecuting, Arguments: json.RawMessage(`{"q":"a\nb"}`)}),
		event.New(&event.ToolCallData{Name: "draw", ID: "call_2", Status: event.ToolCompleted, Files: []event.File{
			{MediaType: "image/png", Name: "a.png", Size: 2, Data: []byte{0, 255}}, {MediaType: "audio/wav", Size: 9, Omitted: true},
		}}),
		{Type: event.ToolArguments, Text: `{"q":"a`, Data: &event.ToolArgumentsData{ID: "call_1"}},
		{Type: event.ToolArguments, Text: `\n`, Data: &event.ToolArgumentsData{ID: "call_1"}},
		{Type: event.ToolArguments, Text: `{`, Data: &event.ToolArgumentsData{ID: `"call"`}},
		{Type: event.ToolArguments, Agent: "general", Text: `b"}`, Data: &event.ToolArgumentsData{ID: "call_1"}},
		event.New(&event.ActionRequestData{RequestID: "r", Card: json.RawMessage(`{"id":"c"}`), ExpiresAt: time.Unix(1, 0).UTC()}),
		event.New(&event.ChildRunData{Status: event.ChildStarted, Input: "x"}),
		event.New(&event.UsageData{InputTokens: 3, Requests: 1}),
		event.New(&event.DoneData{Reason: event.ReasonStop, Output: json.RawMessage(`{"a":1}`)}),
	}
	log := lines(want...)
	for after := range len(want) + 1 {
		var got []event.Event
		for e, err := range event.ReadLog(log, int64(after)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		if diff := cmp.Diff(want[after:], append([]event.Event{}, got...)); diff != "" {
			t.Errorf("after %d:\n%s", after, diff)
		}
	}
	for i, line := range bytes.Split(bytes.TrimSpace(log), []byte("\n")) {
		var got event.Event
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

func TestLogStopsAtABrokenLine(t *testing.T) {
	log := append(lines(event.NewText("a")), "\n{\"type\":\"text\",\"seq\":2\n{\"type\":\"text\",\"seq\":3}\n"...)
	var texts []string
	var failed error
	for e, err := range event.ReadLog(log, 0) {
		if err != nil {
			failed = err
			continue
		}
		texts = append(texts, e.Text)
	}
	if failed == nil || len(texts) != 1 {
		t.Errorf("read %q and the error %v", texts, failed)
	}
}

func TestLogKeepsAnEventWhosePayloadIsBroken(t *testing.T) {
	log := lines(event.New(&event.ActionData{ActionType: "x", Payload: json.RawMessage(`{`)}), event.NewText("next"))
	n := 0
	for e, err := range event.ReadLog(log, 0) {
		if n++; err != nil || e.Seq != int64(n) || n == 1 && e.Data == nil {
			t.Errorf("event %d is %+v, %v", n, e, err)
		}
	}
	if n != 2 {
		t.Errorf("%d events of 2", n)
	}
}

func TestLogOfTextCostsNoAllocation(t *testing.T) {
	e := event.Event{Type: event.Text, RunID: "run", Seq: 12, Agent: "general", Text: "a \"piece\"\n of tèxt"}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { buf = event.AppendLog(buf[:0], &e) }); n != 0 {
		t.Errorf("writing costs %v allocations", n)
	}
	log := texts(1000)
	if n := testing.AllocsPerRun(10, func() { read(t, log) }); n > 10 {
		t.Errorf("reading 1000 texts costs %v allocations", n)
	}
}

// FuzzReadLog: a line is read as encoding/json reads it, and what was read
// survives another round.
func FuzzReadLog(f *testing.F) {
	for _, seed := range []string{
		`{"type":"text","run_id":"r","seq":1,"agent":"a","text":"x"}`,
		`{"type":"reasoning","seq":9223372036854775807,"text":"\u00e9\ud83d\ude00\n\/"}`,
		`{"type":"text","seq":01,"text":"a"}`,
		`{"type":"text","text":"\ud83d"}`,
		`{"type":"text","text":"\u12","text":"b"}`,
		`{"type":"text" ,"Text":"b"}`,
		`{"type":"done","data":{"reason":"stop","output":[1, 2]}}`,
		`{"type":"gossip"}`,
		"{\"type\":\"text\",\"text\":\"\xff\x01\"}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		if line == "" {
			return
		}
		var want event.Event
		wantErr := json.Unmarshal([]byte(line), &want)
		for e, err := range event.ReadLog([]byte(line), math.MinInt64) {
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%q: %v, encoding/json says %v", line, err, wantErr)
			}
			if err != nil || e.Type == 0 {
				return
			}
			if diff := cmp.Diff(want, e); diff != "" {
				t.Fatalf("%q\n%s", line, diff)
			}
			again := event.AppendLog(nil, &e)
			for e2, err := range event.ReadLog(again, math.MinInt64) {
				var other event.Event
				if err2 := json.Unmarshal(again, &other); err != nil || err2 != nil {
					t.Fatalf("%q: %v, %v", again, err, err2)
				}
				if diff := cmp.Diff(other, e2); diff != "" {
					t.Fatalf("%q\n%s", again, diff)
				}
				if e2.Text != e.Text || e2.Seq != e.Seq || e2.RunID != e.RunID {
					t.Fatalf("%+v became %+v", e, e2)
				}
			}
		}
	})
}

// texts is a log of n texts.
func texts(n int) []byte {
	events := make([]event.Event, n)
	for i := range events {
		events[i] = event.Event{Type: event.Text, Agent: "general", Text: fmt.Sprintf(" word %d", i)}
	}
	return lines(events...)
}

func read(tb testing.TB, log []byte) {
	for _, err := range event.ReadLog(log, 0) {
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkReadLog(b *testing.B) {
	log := texts(10_000)
	b.ReportAllocs()
	for b.Loop() {
		read(b, log)
	}
}

func BenchmarkAppendLog(b *testing.B) {
	e := event.Event{Type: event.Text, RunID: "01980d3a-0000-7000-8000-000000000000", Seq: 12, Agent: "general", Text: " a piece\n"}
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = event.AppendLog(buf[:0], &e)
	}
}

func TestLogMendsBrokenText(t *testing.T) {
	for e, err := range event.ReadLog(lines(event.NewText("a\xff\xc3b\xed\xa0\x80")), 0) {
		if want := "a\uFFFD\uFFFDb\uFFFD\uFFFD\uFFFD"; err != nil || e.Text != want {
			t.Errorf("%q, %v; want %q", e.Text, err, want)
		}
	}
}
