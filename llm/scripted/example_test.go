package scripted_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

// A turn may check the request that it got. Done reports a failed check, and a
// script that was not used up.
func ExampleModel_Done() {
	model := scripted.New(
		scripted.Turn{Text: []string{"Hello."}, Check: func(req *llm.Request) error {
			if len(req.Tools) == 0 {
				return errors.New("the agent has no tools")
			}
			return nil
		}},
		scripted.Text("Never said."),
	)
	for _, err := range model.Stream(context.Background(), &llm.Request{}) {
		if err != nil {
			fmt.Println("stream:", err)
		}
	}
	fmt.Println("done:", model.Done())
	// Output:
	// stream: scripted: turn 1: the agent has no tools
	// done: scripted: turn 1: the agent has no tools
	// scripted: 1 of 2 turns were used; turn 2 was not asked for
}

// Until blocks a turn before one of its chunks, so that a test can act in the
// middle of an answer.
func ExampleUntil() {
	read := make(chan struct{})
	model := scripted.New(scripted.Turn{Text: []string{"one ", "two"}, Before: scripted.Until(1, read)})
	for chunk := range model.Stream(context.Background(), &llm.Request{}) {
		if chunk.Text == "one " {
			fmt.Println("the answer has begun")
			close(read)
		}
		if chunk.Kind == llm.ChunkFinish {
			fmt.Println("the answer has ended")
		}
	}
	// Output:
	// the answer has begun
	// the answer has ended
}
