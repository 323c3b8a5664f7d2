package rem

import (
	"encoding/json"
	"strconv"

	"github.com/p8-org/p8/telemetry"
)

// maxObserved bounds the rows of a result that its span has.
const maxObserved = 10

// describe says what a query found.
func describe(op *telemetry.Op, res *Result) {
	if !op.Recording() {
		return
	}
	op.Int("p8.rem.rows", res.Count)
	if !op.Content() {
		return
	}
	for i, row := range res.Results[:min(len(res.Results), maxObserved)] {
		at := "retrieval.documents." + strconv.Itoa(i) + ".document."
		if text, err := json.Marshal(row); err == nil {
			op.String(at+"content", string(text))
		}
	}
}
