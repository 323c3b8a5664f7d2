package tool_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/tool"
)

// A typed tool is a Go function. Its schema is made from the fields of its input, and
// checked before every call.
func ExampleNew() {
	weather, err := tool.New("weather", "Returns the weather.", func(_ context.Context, in struct {
		City string `json:"city" jsonschema:"the city's name"`
		Unit string `json:"unit,omitempty" enum:"celsius,fahrenheit" default:"celsius"`
	}) (any, error) {
		if in.City == "Atlantis" {
			return nil, &tool.Error{Message: "Atlantis has no weather; ask for a city above water"}
		}
		return map[string]any{"city": in.City, "degrees": 21, "unit": in.Unit}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	for _, arguments := range []string{`{"city":"Oslo"}`, `{"city":"Atlantis"}`, `{"town":"Oslo"}`} {
		args := json.RawMessage(arguments)
		if err := tool.Validate(ctx, weather, args); err != nil {
			fmt.Println("invalid:", err)
			continue
		}
		result, err := weather.Call(ctx, tool.Call{ID: "call_1", Name: "weather", Arguments: args})
		if err != nil {
			fmt.Println("failed:", err)
			continue
		}
		fmt.Println("result:", result.Content)
	}
	// Output:
	// result: {"city":"Oslo","degrees":21,"unit":"celsius"}
	// failed: Atlantis has no weather; ask for a city above water
	// invalid: the arguments do not fit the tool's schema: missing property 'city'; additional properties 'town' not allowed
}

// A registry picks the tools that a document declares, and reports those that it does
// not have.
func ExampleRegistry() {
	clock, err := tool.New("get_time", "Returns the time.", func(context.Context, struct{}) (any, error) { return "noon", nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	registry, err := tool.NewRegistry(clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	tools, missing := registry.Resolve([]agent.ToolRef{{Name: "get_time"}, {Name: "get_tim"}})
	for _, t := range tools {
		fmt.Println(t.Spec().Name, "-", t.Spec().Description)
	}
	for _, m := range missing {
		fmt.Println(m.Message())
	}
	// Output:
	// get_time - Returns the time.
	// the tool get_tim is not available here; did you mean get_time?
}
