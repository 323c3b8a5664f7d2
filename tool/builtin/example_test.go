package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store/sqlite"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// Each tool exists if the options have its parts: with a store, agents can keep
// moments; with an engine, they can search.
func Example() {
	dir, err := os.MkdirTemp("", "builtin-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := identity.With(context.Background(), identity.Identity{UserID: identity.UserID("ada@example.com")})
	memory, err := sqlite.Open(ctx, sqlite.Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer memory.Close()
	tools, err := builtin.Tools(builtin.Options{Store: memory, Engine: rem.New(rem.Options{Knowledge: memory})})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := func(name, arguments string) string {
		for _, t := range tools {
			if t.Spec().Name == name {
				result, err := t.Call(ctx, tool.Call{Name: name, Arguments: json.RawMessage(arguments)})
				if err != nil {
					return err.Error()
				}
				return result.Content
			}
		}
		return "there is no tool " + name
	}
	var saved struct {
		Status string `json:"status"`
		Count  int    `json:"count"`
	}
	if err := json.Unmarshal([]byte(call("save_moments", `{"moments": [{"name": "Tea with Grace", "summary": "She leaves in May."}]}`)), &saved); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(saved.Status, saved.Count)
	var found struct {
		Results []struct {
			Key     string `json:"key"`
			Summary string `json:"summary"`
		} `json:"results"`
	}
	if err := json.Unmarshal([]byte(call("search", `{"query": "LOOKUP tea-with-grace"}`)), &found); err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range found.Results {
		fmt.Println(row.Key, row.Summary)
	}
	// Output:
	// success 1
	// tea-with-grace She leaves in May.
}
