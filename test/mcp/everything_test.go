package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/mcp"
)

// transport is the example server in one of its forms.
type transport struct {
	servers *mcp.Servers
	// kill ends the server, again brings it back where that is not p8's work.
	kill, again func()
}

func stdio(t *testing.T) transport {
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	command, args := harness.EverythingProgram(t, pid)
	return transport{
		servers: open(t, dir, map[string]any{"command": command, "args": args}),
		kill:    func() { harness.KillPID(t, pid) },
		again:   func() {},
	}
}

func overHTTP(t *testing.T) transport {
	server := harness.StartEverything(t)
	return transport{
		servers: open(t, t.TempDir(), map[string]any{"type": "http", "url": server.URL}),
		kill:    server.Kill,
		again:   func() { server.Start(t) },
	}
}

// open writes an mcpServers file and reads it.
func open(t *testing.T, dir string, entry map[string]any) *mcp.Servers {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"everything": entry}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	servers, err := mcp.New(mcp.Options{
		Getenv: os.Getenv, Environ: []string{}, ConfigFile: file, Version: "test", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := servers.Close(); err != nil {
			t.Error(err)
		}
	})
	return servers
}

const document = `
name: tester
description: Tries everything.
sampling: true
tools:
  - {name: echo, server: everything}
  - {name: get-sum, server: everything}
  - {name: get-structured-content, server: everything}
  - {name: trigger-long-running-operation, server: everything}
  - {name: get-tiny-image, server: everything}
  - {name: get-resource-links, server: everything}
  - {name: trigger-sampling-request, server: everything}
  - {name: trigger-elicitation-request, server: everything}
  - {name: ecko, server: everything}
resources:
  - {uri_pattern: "demo://resource/.*", name: demos, server: everything}
  - {uri: "demo://resource/dynamic/text/{id}", name: dynamic, server: everything}
`

// agentTools resolves the document as a turn does.
func agentTools(t *testing.T, servers *mcp.Servers) map[string]tool.Tool {
	t.Helper()
	d, err := agent.Parse("tester.yaml", []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	local, err := tool.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	got := (&tool.Box{Local: local, Servers: servers}).Resolve(t.Context(), a)
	if len(got.Missing) != 1 || !slices.Contains(got.Missing[0].Near, "echo") {
		t.Errorf("missing: %v", got.Missing)
	}
	tools := map[string]tool.Tool{}
	for _, found := range got.Tools {
		tools[found.Spec().Name] = found
	}
	return tools
}

// model answers every question of the server.
type model struct{}

func (model) Sample(_ context.Context, req *llm.Request) (string, llm.Message, llm.Finish, error) {
	return "test-model", llm.Message{Role: llm.Assistant, Content: "answer to " + req.Messages[len(req.Messages)-1].Content}, llm.FinishStop, nil
}

func call(t *testing.T, ctx context.Context, found tool.Tool, args string, emit func(event.Event) bool) (tool.Result, error) {
	t.Helper()
	if found == nil {
		t.Fatal("the tool is not there")
	}
	if err := tool.Validate(t.Context(), found, json.RawMessage(args)); err != nil {
		t.Fatal(err)
	}
	c := tool.Call{ID: "call_1", Arguments: json.RawMessage(args)}
	if s, ok := found.(tool.Streamer); ok && emit != nil {
		return s.Stream(ctx, c, emit)
	}
	return found.Call(ctx, c)
}

func TestEverything(t *testing.T) {
	for name, start := range map[string]func(*testing.T) transport{"stdio": stdio, "http": overHTTP} {
		t.Run(name, func(t *testing.T) {
			server := start(t)
			tools := agentTools(t, server.servers)
			results(t, tools)
			progress(t, tools)
			midCall(t, server, tools)
			server.kill()
			server.again()
			for range 2 {
				says(t, tools["echo"], `{"message":"once more"}`, "once more")
			}
		})
	}
}

func says(t *testing.T, found tool.Tool, args, want string) tool.Result {
	t.Helper()
	res, err := call(t, t.Context(), found, args, nil)
	if err != nil || res.Failed || !strings.Contains(res.Content, want) {
		t.Errorf("%s: %v %v", args, res.Content, err)
	}
	return res
}

func results(t *testing.T, tools map[string]tool.Tool) {
	t.Helper()
	says(t, tools["echo"], `{"message":"hello"}`, "hello")
	says(t, tools["get-sum"], `{"a":2,"b":3}`, "The sum of 2 and 3 is 5.")
	res := says(t, tools["get-structured-content"], `{"location":"Chicago"}`, `"conditions"`)
	if !json.Valid([]byte(res.Content)) {
		t.Errorf("the structured content came twice: %s", res.Content)
	}
	if err := tool.Validate(t.Context(), tools["get-structured-content"], []byte(`{"location":"Rome"}`)); err == nil {
		t.Error("the schema lost its enum")
	}
	res = says(t, tools["get-tiny-image"], `{}`, "[image image/png, ")
	if len(res.Parts) != 1 || res.Parts[0].Kind != llm.Image || len(res.Parts[0].Data) == 0 {
		t.Errorf("parts: %d", len(res.Parts))
	}
	says(t, tools["get-resource-links"], `{"count":2}`, "<demo://resource/")
	says(t, tools["demos"], `{}`, "demo://resource/static/")
	says(t, tools["dynamic"], `{"id":"7"}`, "7")
	res, err := call(t, tool.WithSampler(t.Context(), model{}), tools["trigger-sampling-request"], `{"prompt":"why","maxTokens":5}`, nil)
	if err != nil || !strings.Contains(res.Content, "answer to") {
		t.Errorf("sampling: %v %v", res, err)
	}
	res, err = call(t, tool.WithSampler(t.Context(), model{}), tools["trigger-elicitation-request"], `{}`, nil)
	if err != nil || !strings.Contains(strings.ToLower(res.Content), "decline") {
		t.Errorf("elicitation: %v %v", res, err)
	}
}

func progress(t *testing.T, tools map[string]tool.Tool) {
	t.Helper()
	var mu sync.Mutex
	var steps []int
	res, err := call(t, t.Context(), tools["trigger-long-running-operation"], `{"duration":0.6,"steps":3}`, func(e event.Event) bool {
		mu.Lock()
		defer mu.Unlock()
		if p, ok := e.Data.(*event.ProgressData); ok && p.TotalSteps == 3 && p.ToolCallID == "call_1" {
			steps = append(steps, p.Step)
		}
		return true
	})
	mu.Lock()
	defer mu.Unlock()
	if err != nil || !strings.Contains(res.Content, "completed") || len(steps) < 2 || !slices.IsSorted(steps) {
		t.Errorf("%v %v, steps %v", res.Content, err, steps)
	}
}

// midCall kills the server while it works: that call fails with what the model
// must know, and the next one works.
func midCall(t *testing.T, server transport, tools map[string]tool.Tool) {
	t.Helper()
	kill := sync.OnceFunc(server.kill)
	_, err := call(t, t.Context(), tools["trigger-long-running-operation"], `{"duration":30,"steps":300}`, func(event.Event) bool {
		kill()
		return true
	})
	var known *tool.Error
	if !errors.As(err, &known) || known.Message != "the MCP server everything broke off the connection; the call may or may not have taken effect" {
		t.Errorf("killed in mid-call: %v", err)
	}
	server.again()
	says(t, tools["echo"], `{"message":"back again"}`, "back again")
}
