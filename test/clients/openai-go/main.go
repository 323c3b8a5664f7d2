// Command openai-go talks to p8 with the official Go client of OpenAI, streamed and not.
// It is a module of its own, so that p8 does not depend on the client.
//
// stdin:  {"url"}
// stdout: {"scenario": {"streamed": [turns], "whole": [turns]}, "clients": {"client and
// its version": "*"}}
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

func main() {
	if err := play(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// turn is one answer, and what its stream had between the chunks.
type turn struct {
	Text   string   `json:"text"`
	Finish string   `json:"finish,omitempty"`
	Calls  []string `json:"calls,omitempty"`
	Events []string `json:"events,omitempty"`
	Failed string   `json:"failed,omitempty"`
}

// question is a scenario: what is asked, and with what.
type question struct {
	name, agent, text string
	tools             []openai.ChatCompletionToolUnionParam
	schema            map[string]any
}

func play(ctx context.Context) error {
	var in struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	showMap := openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "show_map", Description: openai.String("Shows a map."),
		Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{"area": map[string]any{"type": "string"}}},
	})
	report := map[string]any{}
	for _, q := range []question{
		{name: "a text", agent: "desk", text: "Good morning!"},
		{name: "delegation", agent: "desk", text: "How many otters are there?"},
		{name: "a schema of the client", agent: "desk", text: "Describe the otter.", schema: map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"animal", "wet"},
			"properties": map[string]any{"animal": map[string]any{"type": "string"}, "wet": map[string]any{"type": "boolean"}},
		}},
		{name: "a tool of the client", agent: "desk", text: "Show the way.", tools: []openai.ChatCompletionToolUnionParam{showMap}},
		{name: "a refusal", agent: "desk", text: "Please refuse me."},
	} {
		ways := map[string][]turn{}
		for way, ask := range map[string]asker{"streamed": streamed, "whole": whole} {
			client := openai.NewClient(option.WithBaseURL(in.URL+"/v1"), option.WithAPIKey("unused"), option.WithMaxRetries(0),
				option.WithHeader("X-Session-Id", "openai-go / "+q.name+" / "+way))
			ways[way] = q.hold(ctx, &client, ask)
		}
		report[q.name] = ways
	}
	report["clients"] = map[string]string{"openai-go " + version(): "*"}
	client := openai.NewClient(option.WithBaseURL(in.URL+"/v1"), option.WithAPIKey("unused"), option.WithMaxRetries(0))
	report["a response"] = respond(ctx, &client, "desk", "How many otters are there?")
	return json.NewEncoder(os.Stdout).Encode(report)
}

// version is that of the client.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == "github.com/openai/openai-go/v3" {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return "unknown"
}

// asker makes one request.
type asker func(context.Context, *openai.Client, openai.ChatCompletionNewParams) (openai.ChatCompletion, []string, error)

// hold is the conversation, in which the client runs its own tools.
func (q *question) hold(ctx context.Context, client *openai.Client, ask asker) (turns []turn) {
	params := openai.ChatCompletionNewParams{
		Model: q.agent, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(q.text)}, Tools: q.tools,
	}
	if q.schema != nil {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "animal", Strict: openai.Bool(true), Schema: q.schema},
		}
	}
	for {
		answer, events, err := ask(ctx, client, params)
		if err != nil {
			var failed *openai.Error
			if errors.As(err, &failed) {
				return append(turns, turn{Failed: fmt.Sprintf("%d %s", failed.StatusCode, failed.Message)})
			}
			return append(turns, turn{Failed: err.Error()})
		}
		choice := answer.Choices[0]
		t := turn{Text: choice.Message.Content, Finish: choice.FinishReason, Events: events}
		params.Messages = append(params.Messages, choice.Message.ToParam())
		for _, call := range choice.Message.ToolCalls {
			t.Calls = append(t.Calls, call.ID+" "+call.Function.Name+" "+call.Function.Arguments)
			params.Messages = append(params.Messages, openai.ToolMessage("the map is shown", call.ID))
		}
		if turns = append(turns, t); t.Calls == nil {
			return turns
		}
	}
}

func whole(ctx context.Context, client *openai.Client, params openai.ChatCompletionNewParams) (openai.ChatCompletion, []string, error) {
	answer, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return openai.ChatCompletion{}, nil, err
	}
	return *answer, nil, nil
}

func streamed(ctx context.Context, client *openai.Client, params openai.ChatCompletionNewParams) (openai.ChatCompletion, []string, error) {
	var all openai.ChatCompletionAccumulator
	var events []string
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	for stream.Next() {
		chunk := stream.Current()
		if !all.AddChunk(chunk) {
			return all.ChatCompletion, events, fmt.Errorf("the chunk %s does not go with those before it", chunk.RawJSON())
		}
		if name := strings.Trim(chunk.JSON.ExtraFields["type"].Raw(), `"`); name != "" && !slices.Contains(events, name) {
			events = append(events, name)
		}
	}
	slices.Sort(events)
	return all.ChatCompletion, events, stream.Err()
}
