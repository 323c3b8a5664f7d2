package run

import (
	"fmt"

	"github.com/p8-org/p8/llm"
)

// The bounds of the images and documents that tools show the model in one run:
// each is sent again with every step.
const (
	maxParts     = 20
	maxPartBytes = 20 << 20
)

// parts counts them.
type parts struct{ count, bytes int }

// take returns the parts that still fit, and a line for the model about the others.
func (p *parts) take(all []llm.Part) ([]llm.Part, string) {
	var kept []llm.Part
	for i := range all {
		size := len(all[i].Data) + len(all[i].URL)
		if p.count == maxParts || p.bytes+size > maxPartBytes {
			continue
		}
		p.count++
		p.bytes += size
		kept = append(kept, all[i])
	}
	if left := len(all) - len(kept); left > 0 {
		return kept, fmt.Sprintf("\n[%d of the %d images and documents of this result cannot be shown: a conversation takes %d of them and %d MiB]",
			left, len(all), maxParts, maxPartBytes>>20)
	}
	return kept, ""
}
