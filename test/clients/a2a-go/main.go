// Command a2a-go talks to p8 with the official Go client of the Agent2Agent protocol,
// version 1.0, over both bindings. It is a module of its own, so that p8 does not depend on
// the client.
//
// stdin:  {"url"}
// stdout: {"binding": {"what was done": "what came of it"}, "clients": {"client and its
// version": "*"}}
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

func main() {
	if err := play(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(ctx context.Context) error {
	var in struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	report := map[string]any{}
	for _, binding := range []a2a.TransportProtocol{a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON} {
		got, err := scenario(ctx, in.URL, binding)
		if err != nil {
			return fmt.Errorf("%s: %w", binding, err)
		}
		report[string(binding)] = got
	}
	client := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if strings.HasPrefix(m.Path, "github.com/a2aproject/") {
				client = m.Path + " " + m.Version
			}
		}
	}
	report["clients"] = map[string]string{client: "*"}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// connect is a client of an agent that prefers a binding.
func connect(ctx context.Context, url, agent string, binding a2a.TransportProtocol) (*a2aclient.Client, error) {
	card, err := agentcard.NewResolver(nil).Resolve(ctx, url+"/a2a/"+agent)
	if err != nil {
		return nil, err
	}
	return a2aclient.NewFromCard(ctx, card, a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{binding}}))
}

// scenario plays a task that asks: it is begun, watched, left, listed, answered and read.
func scenario(ctx context.Context, url string, binding a2a.TransportProtocol) (map[string]any, error) {
	keeper, err := connect(ctx, url, "keeper", binding)
	if err != nil {
		return nil, err
	}
	first := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("An otter was born."))
	first.ContextID = a2a.NewContextID()
	asked, err := follow(keeper.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: first}))
	if err != nil {
		return nil, err
	}
	id := asked.id
	// The connection is lost, and the client comes back.
	watching, watched := make(chan seen), func(s seen, err error) seen {
		if err != nil {
			s.States = append(s.States, a2a.TaskState(err.Error()))
		}
		return s
	}
	begun := make(chan bool)
	go func() {
		events := keeper.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id})
		watching <- watched(follow(func(yield func(a2a.Event, error) bool) {
			first := true
			for e, err := range events {
				if first {
					close(begun)
					first = false
				}
				if !yield(e, err) {
					return
				}
			}
		}))
	}()
	<-begun
	hook, err := keeper.CreateTaskPushConfig(ctx, &a2a.PushConfig{TaskID: id, ID: "mine", URL: "https://hooks.example.com/", Token: "otter"})
	if err != nil {
		return nil, err
	}
	hooks, err := keeper.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: id})
	if err != nil {
		return nil, err
	}
	if err := keeper.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: id, ID: hook.ID}); err != nil {
		return nil, err
	}
	_, gone := keeper.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: id, ID: hook.ID})
	list, err := keeper.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: first.ContextID, Status: a2a.TaskStateInputRequired, PageSize: 5})
	if err != nil {
		return nil, err
	}
	answer := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(map[string]any{"approved": true}))
	answer.TaskID = id
	done, err := keeper.SendMessage(ctx, &a2a.SendMessageRequest{Message: answer})
	if err != nil {
		return nil, err
	}
	most := 10
	task, err := keeper.GetTask(ctx, &a2a.GetTaskRequest{ID: id, HistoryLength: &most})
	if err != nil {
		return nil, err
	}
	_, late := keeper.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
	_, none := keeper.GetTask(ctx, &a2a.GetTaskRequest{ID: "nobody"})
	result, ok := done.(*a2a.Task)
	if !ok {
		return nil, fmt.Errorf("the answer is a %T", done)
	}
	return map[string]any{
		"asked": asked, "watched": <-watching, "listed": []int{len(list.Tasks), list.TotalSize, list.PageSize},
		"webhook": []any{hook.URL, hook.Token, len(hooks), errors.Is(gone, a2a.ErrTaskNotFound)}, "done": result.Status.State,
		"history": len(task.History), "cancelled late": errors.Is(late, a2a.ErrTaskNotCancelable), "no task": errors.Is(none, a2a.ErrTaskNotFound),
	}, nil
}

// seen is what a stream said.
type seen struct {
	id     a2a.TaskID
	States []a2a.TaskState `json:"states"`
	Text   string          `json:"text"`
	Whole  bool            `json:"whole"` // the last chunk came
}

// follow reads a stream to its end.
func follow(events func(yield func(a2a.Event, error) bool)) (s seen, failed error) {
	state := func(status a2a.TaskStatus) {
		if n := len(s.States); n == 0 || s.States[n-1] != status.State {
			s.States = append(s.States, status.State)
		}
	}
	add := func(a *a2a.Artifact) {
		for _, p := range a.Parts {
			s.Text += p.Text()
		}
	}
	for e, err := range events {
		if err != nil {
			return s, err
		}
		switch e := e.(type) {
		case *a2a.Task:
			s.id = e.ID
			state(e.Status)
			for _, a := range e.Artifacts {
				add(a)
			}
		case *a2a.TaskStatusUpdateEvent:
			state(e.Status)
		case *a2a.TaskArtifactUpdateEvent:
			add(e.Artifact)
			s.Whole = s.Whole || e.LastChunk
		}
	}
	return s, nil
}
