package stream_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/stream"
)

var created = time.Unix(1760000000, 0)

// transcript is a file of testdata/transcripts: its purpose, the events of a run, what the
// reader has already, and the bytes of every protocol.
type transcript struct {
	file, name string
	archive    *txtar.Archive
	events     []event.Event
	reader     stream.Reader
	denied     string
}

func transcripts(t testing.TB) []transcript {
	t.Helper()
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	var all []transcript
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tr := transcript{file: file, name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
		tr.events = parseEvents(t, ar.Files[0].Data)
		keep := 1
		if len(ar.Files) > 1 && ar.Files[1].Name == "reader" {
			keep = 2
			if _, err := fmt.Sscanf(string(ar.Files[1].Data), "past %d\ndenied %s", &tr.reader.Past, &tr.denied); err != nil {
				t.Fatal(err)
			}
		}
		tr.archive = &txtar.Archive{Comment: ar.Comment, Files: ar.Files[:keep:keep]}
		all = append(all, tr)
	}
	return all
}

func parseEvents(t testing.TB, lines []byte) []event.Event {
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

// options are those of every transcript.
func (tr *transcript) options(f stream.Format) stream.Options {
	return stream.Options{
		Reader:    tr.reader,
		OpenAI:    stream.OpenAIOptions{ID: "chatcmpl-1", Model: "general", Created: created, Format: f, IncludeUsage: true},
		Responses: stream.ResponsesOptions{ID: "resp_1", Model: "general", Created: created, SessionID: "s1", Stored: true},
		AGUI: stream.AGUIOptions{
			ThreadID: "t1", RunID: "run1", MessageID: "msg1", Now: func() time.Time { return created },
		},
		AISDK: stream.AISDKOptions{
			MessageID: "msg1", Metadata: map[string]any{"session_id": "s1"}, Approvals: tr.reader.Past > 0, // it has answered one
			Denied: func(id string) bool { return id == tr.denied },
		},
	}
}

// encode returns the bytes of a protocol for the events.
func encode(t testing.TB, p stream.Protocol, o stream.Options, events []event.Event) []byte {
	t.Helper()
	var out bytes.Buffer
	e := stream.New(p, &out, o)
	for _, ev := range events {
		if err := e.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestTranscripts runs the events of every transcript through every protocol.
// The transcripts are the documentation of the wire.
func TestTranscripts(t *testing.T) {
	for _, tr := range transcripts(t) {
		t.Run(tr.name, func(t *testing.T) {
			got := tr.archive
			for f := stream.Polyglot; f <= stream.None; f++ {
				out := encode(t, stream.ProtocolOpenAI, tr.options(f), tr.events)
				checkFrames(t, f, out)
				got.Files = append(got.Files, txtar.File{Name: f.String(), Data: out})
			}
			got.Files = append(got.Files, txtar.File{Name: "completion", Data: tr.complete(t)})
			for _, p := range []stream.Protocol{stream.ProtocolResponses, stream.ProtocolAGUI, stream.ProtocolAGUI0, stream.ProtocolAISDK, stream.ProtocolEvents} {
				out := encode(t, p, tr.options(0), tr.events)
				switch p {
				case stream.ProtocolResponses:
					checkResponses(t, out, tr.respond(t))
				case stream.ProtocolAGUI, stream.ProtocolAGUI0:
					checkAGUI(t, out)
				case stream.ProtocolAISDK:
					checkAISDK(t, out, tr.known())
				}
				name := string(p)
				if p == stream.ProtocolEvents {
					name = "event-stream" // the first section has the name
				}
				got.Files = append(got.Files, txtar.File{Name: name, Data: out})
			}
			if tr.reader.Past > 0 {
				got.Files = append(got.Files, tr.replays(t)...)
			}
			golden.Compare(t, tr.file, string(txtar.Format(got)))
		})
	}
}

// known returns the calls that the client has from an earlier response.
func (tr *transcript) known() []string {
	var ids []string
	for _, ev := range tr.events {
		if d, ok := ev.Data.(*event.ToolCallData); ok && ev.Seq <= tr.reader.Past {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

func (tr *transcript) complete(t *testing.T) []byte {
	t.Helper()
	var c stream.Completion
	for _, ev := range tr.events {
		if ev.Seq > tr.reader.Past {
			c.Add(ev)
		}
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

// protocols are all protocols and formats, by name.
func protocols(tr *transcript) map[string]func() (stream.Protocol, stream.Options) {
	all := map[string]func() (stream.Protocol, stream.Options){}
	for f := stream.Unnamed; f <= stream.None; f++ {
		all[f.String()] = func() (stream.Protocol, stream.Options) { return stream.ProtocolOpenAI, tr.options(f) }
	}
	for _, p := range []stream.Protocol{stream.ProtocolResponses, stream.ProtocolAGUI, stream.ProtocolAISDK, stream.ProtocolEvents} {
		all[string(p)] = func() (stream.Protocol, stream.Options) { return p, tr.options(0) }
	}
	return all
}

// TestReconnect: a reader that is cut off anywhere and comes back with its last id has the
// bytes of an unbroken stream, in every protocol. Text that was held back until then has
// given it no id.
func TestReconnect(t *testing.T) {
	for _, tr := range transcripts(t) {
		for name, choice := range protocols(&tr) {
			p, o := choice()
			if tr.name == "restart" && p == stream.ProtocolOpenAI {
				continue // what it holds back has no number yet: TestRestart cuts at its frames
			}
			o.Reader.IDs = true
			whole := encode(t, p, o, tr.events)
			for cut := range tr.events {
				first := encode(t, p, o, tr.events[:cut])
				rest, last := o, cut
				for last > 0 && p == stream.ProtocolOpenAI && len(encode(t, p, o, tr.events[:last-1])) == len(first) {
					last--
				}
				if last > 0 {
					rest.Reader.Seen = tr.events[last-1].Seq
				}
				if got := slices.Concat(first, encode(t, p, rest, tr.events)); !bytes.Equal(got, whole) {
					t.Fatalf("%s, %s, cut after %d events:\n%s\nwant\n%s", tr.name, name, cut, got, whole)
				}
			}
		}
	}
}

// TestIDs: each event's frames end with a block that holds its number. OpenAI's chunks have
// a field for it; plain ones have none.
func TestIDs(t *testing.T) {
	events := []event.Event{
		{Type: event.Text, Seq: 7, Agent: "general", Text: "x"},
		{Type: event.Progress, Seq: 8, Agent: "general", Data: &event.ProgressData{Label: "y"}},
	}
	for name, choice := range protocols(&transcript{}) {
		p, o := choice()
		o.Reader.IDs = true
		got := string(encode(t, p, o, events))
		openai := p == stream.ProtocolOpenAI || p == stream.ProtocolResponses
		if blocks := strings.Contains(got, "\nid: 7\n\n"); blocks == openai {
			t.Errorf("%s: %q", name, got)
		}
		if p != stream.ProtocolOpenAI {
			continue
		}
		f := o.OpenAI.Format
		text := strings.Contains(got, `"finish_reason":null}],"seq":7}`+"\n\n")
		typed := strings.Contains(got, `"finish_reason":null}],"seq":8}`+"\n\n")
		if text != (f != stream.None) || typed != (f == stream.Polyglot || f == stream.Unnamed) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// replays returns what a client reads that comes back after the pause: the whole run in one
// response, through the pause.
func (tr *transcript) replays(t *testing.T) []txtar.File {
	t.Helper()
	o := tr.options(stream.None)
	o.Reader = stream.Reader{Newest: tr.events[len(tr.events)-1].Seq}
	ui := encode(t, stream.ProtocolAISDK, o, tr.events)
	checkAISDK(t, ui, nil)
	agui := encode(t, stream.ProtocolAGUI, o, tr.events)
	checkAGUI(t, agui)
	chunks := encode(t, stream.ProtocolOpenAI, o, tr.events)
	checkFrames(t, stream.None, chunks)
	return []txtar.File{{Name: "replay-none", Data: chunks}, {Name: "replay-ag-ui", Data: agui}, {Name: "replay-ai-sdk", Data: ui}}
}
