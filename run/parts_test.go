package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

func TestPartsOfResults(t *testing.T) {
	pictures := func(sizes ...int) []llm.Part {
		all := make([]llm.Part, len(sizes))
		for i, n := range sizes {
			all[i] = llm.Part{Kind: llm.Image, MediaType: "image/png", Data: make([]byte, n)}
		}
		return all
	}
	const mib = 1 << 20
	for _, tc := range []struct {
		name  string
		parts []llm.Part
		kept  []int // a call
		note  string
	}{
		{"none", nil, []int{0, 0}, ""},
		{"few", pictures(1, 2), []int{2, 2}, ""},
		{"many", pictures(make([]int, 15)...), []int{15, 5}, "10 of the 15"},
		{"large", pictures(8*mib, 13*mib, 4*mib), []int{2, 1}, "2 of the 3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			show, err := tool.New("show", "Shows.", func(context.Context, struct{}) (any, error) {
				return tool.Result{Content: "pictures", Parts: tc.parts}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			m := scripted.New(scripted.Call("show", "{}"), scripted.Call("show", "{}"), scripted.Text("nice"))
			if _, err := run.Text(run.Stream(t.Context(), options(t, talker, m, show))); err != nil {
				t.Fatal(err)
			}
			msgs := m.Requests()[2].Messages
			for i, msg := range []llm.Message{msgs[3], msgs[5]} {
				if msg.Role != llm.ToolRole || len(msg.Parts) != tc.kept[i] || !strings.HasPrefix(msg.Content, "pictures") {
					t.Errorf("result %d: %s with %d parts: %s", i+1, msg.Role, len(msg.Parts), msg.Content)
				}
			}
			if said := msgs[5].Content; !strings.Contains(said, tc.note) || tc.note == "" && said != "pictures" {
				t.Errorf("the model reads %q", said)
			}
		})
	}
}
