package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// respond plays a scenario with the Responses API: the turn is streamed, and as a whole.
func respond(ctx context.Context, client *openai.Client, agent, text string) map[string][]turn {
	params := responses.ResponseNewParams{Model: agent, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}}
	out := map[string][]turn{}
	if answer, err := client.Responses.New(ctx, params); err != nil {
		out["whole"] = []turn{{Failed: err.Error()}}
	} else {
		out["whole"] = []turn{turnOf(answer)}
	}
	said, next, stream := "", int64(0), client.Responses.NewStreaming(ctx, params)
	for stream.Next() {
		e := stream.Current()
		if e.SequenceNumber != next {
			out["streamed"] = []turn{{Failed: fmt.Sprintf("event %d has the number %d", next, e.SequenceNumber)}}
			return out
		}
		next++
		switch e.Type {
		case "response.output_text.delta":
			said += e.Delta
		case "response.completed":
			t := turnOf(&e.Response)
			if t.Text != said {
				t.Failed = "the deltas are " + said
			}
			out["streamed"] = []turn{t}
		}
	}
	if err := stream.Err(); err != nil {
		out["streamed"] = []turn{{Failed: err.Error()}}
	}
	return out
}

// turnOf is a response as a turn; its items are the calls.
func turnOf(r *responses.Response) turn {
	t := turn{Text: r.OutputText(), Finish: string(r.Status)}
	for _, item := range r.Output {
		if item.Type == "mcp_call" {
			t.Calls = append(t.Calls, item.Name)
		}
	}
	slices.Sort(t.Calls) // agents work side by side
	return t
}
