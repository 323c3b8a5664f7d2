package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// filesOf calls a tool that returns res, and returns the files in the call's event: media
// type, name, and the length of the data or "omitted" with the size.
func filesOf(t *testing.T, res tool.Result) (list []string) {
	t.Helper()
	show, err := tool.New("show", "Shows.", func(context.Context, struct{}) (any, error) { return res, nil })
	if err != nil {
		t.Fatal(err)
	}
	m := scripted.New(scripted.Call("show", "{}"), scripted.Text("nice"))
	for e, err := range run.Stream(t.Context(), options(t, talker, m, show)) {
		if err != nil {
			t.Fatal(err)
		}
		d, ok := e.Data.(*event.ToolCallData)
		if !ok {
			continue
		}
		for _, f := range d.Files {
			what := fmt.Sprint(len(f.Data))
			if f.Omitted {
				what = fmt.Sprintf("omitted %d %v", f.Size, f.Data == nil)
			}
			list = append(list, strings.TrimSpace(f.MediaType+" "+f.Name)+": "+what)
		}
	}
	return list
}

// TestFilesOfResults: the event of a call has the files of its result, within bounds, and
// only of types that no client runs. What is left out is named.
func TestFilesOfResults(t *testing.T) {
	image := func(name string, size int) llm.Part {
		return llm.Part{Kind: llm.Image, MediaType: "image/png", Name: name, Data: make([]byte, size)}
	}
	typed := func(types ...string) (all []event.File) {
		for _, kind := range types {
			all = append(all, event.File{MediaType: kind, Data: []byte("x")})
		}
		return all
	}
	const most = event.MaxFileData
	for _, c := range []struct {
		name string
		res  tool.Result
		want []string
	}{
		{"none", tool.Result{Content: "x"}, nil},
		{"parts first", tool.Result{Parts: []llm.Part{image("dot.png", 3)}, Files: typed("audio/wav")}, []string{"image/png dot.png: 3", "audio/wav: 1"}},
		{"failed", tool.Result{Failed: true, Parts: []llm.Part{image("", 3)}}, nil},
		{"at a URL, and empty", tool.Result{Parts: []llm.Part{{Kind: llm.Image, URL: "https://example.com/a.png"}, image("", 0)}}, nil},
		{
			"names", tool.Result{Parts: []llm.Part{
				image("file:///home/me/a b.png", 1), image("https://h/x.png?key=secret#f", 1), image(`C:\me\c.png`, 1),
				image("data:image/png;base64,aa", 1), image("notes://pdf", 1), image("/", 1), image("..", 1), image("a\n#1.png", 1),
			}},
			[]string{
				"image/png a b.png: 1", "image/png x.png: 1", "image/png c.png: 1", "image/png: 1", "image/png pdf: 1",
				"image/png: 1", "image/png: 1", "image/png a #1.png: 1",
			},
		},
		{
			"types that are shown", tool.Result{Files: typed("video/mp4", "application/pdf", "text/plain; charset=utf-8", "IMAGE/JPEG", "audio/x-m4a")},
			[]string{"video/mp4: 1", "application/pdf: 1", "text/plain: 1", "image/jpeg: 1", "audio/x-m4a: 1"},
		},
		{
			"types that are not", tool.Result{Files: typed("image/svg+xml", "image/SVG+XML; x=1", "image/svg", "text/html", "application/zip", "image/", "image", "",
				"image/a'b", "image/png,<script>", "image/"+strings.Repeat("x", 200))},
			[]string{
				"image/svg+xml: omitted 1 true", "image/svg+xml: omitted 1 true", "image/svg: omitted 1 true", "text/html: omitted 1 true", "application/zip: omitted 1 true",
				"application/octet-stream: omitted 1 true", "image: omitted 1 true", "application/octet-stream: omitted 1 true",
				"application/octet-stream: omitted 1 true", "application/octet-stream: omitted 1 true", "application/octet-stream: omitted 1 true",
			},
		},
		{"exactly", tool.Result{Parts: []llm.Part{image("", most)}}, []string{fmt.Sprintf("image/png: %d", most)}},
		{
			"too large together", tool.Result{Parts: []llm.Part{image("", most+1), image("", most-1), image("", 2), image("", 1)}},
			[]string{fmt.Sprintf("image/png: omitted %d true", most+1), fmt.Sprintf("image/png: %d", most-1), "image/png: omitted 2 true", "image/png: 1"},
		},
		{
			"too many", tool.Result{Files: typed(slices.Repeat([]string{"audio/wav"}, event.MaxFiles+1)...)},
			append(slices.Repeat([]string{"audio/wav: 1"}, event.MaxFiles), "audio/wav: omitted 1 true"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := filesOf(t, c.res); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestFilesOfARun: the files of all calls of a run, and of the runs below it, are bounded
// together, and the journal does not hold them a second time.
func TestFilesOfARun(t *testing.T) {
	res := tool.Result{Content: "x", Files: []event.File{{MediaType: "audio/wav", Data: make([]byte, event.MaxFileData)}}}
	play, err := tool.New("play", "Plays.", func(context.Context, struct{}) (any, error) { return res, nil })
	if err != nil {
		t.Fatal(err)
	}
	again := func(calls int, name string, last ...scripted.Turn) *scripted.Model {
		return scripted.New(append(slices.Repeat([]scripted.Turn{scripted.Call(name, "{}")}, calls), last...)...)
	}
	below := child(t, "deep", again(2, "play", scripted.Text("deep")), play)
	m := again(2, "play", scripted.Call("ask_deep", "{}"), scripted.Call("play", "{}"), scripted.Text("nice"))
	var got []string
	for e, err := range run.Stream(t.Context(), options(t, talker, m, play, newDelegate(t, below))) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.Data.(*event.ToolCallData); ok && d.Name == "play" && d.Status == event.ToolCompleted {
			got = append(got, fmt.Sprintf("%s %v", e.Agent, d.Files[0].Omitted))
		}
	}
	want := []string{"talker false", "talker false", "talker/deep false", "talker/deep false", "talker true"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if raw, err := json.Marshal(res); err != nil || len(raw) > 100 {
		t.Errorf("%d bytes in the journal, %v", len(raw), err)
	}
}
