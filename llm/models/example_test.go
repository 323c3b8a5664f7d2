package models_test

import (
	"fmt"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/models"
)

// The table knows windows and prices; run.Options.Cost and chat.Options.Window
// take its methods.
func ExampleLoad() {
	table, err := models.Load(models.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	info, known := table.Info("openai:gpt-4.1")
	fmt.Println(known, info.Context, info.Output)
	fmt.Printf("$%.4f\n", table.Cost("openai:gpt-4.1", llm.Usage{Input: 1000, Output: 100}))
	// Output:
	// true 1047576 32768
	// $0.0028
}
