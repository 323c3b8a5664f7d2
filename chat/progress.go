package chat

import "github.com/p8-org/p8/event"

// progressSteps is the number of steps that a turn says it has (REMLight).
const progressSteps = 3

func (r *recorder) progress(d *event.ProgressData) {
	d.TotalSteps, d.Status = progressSteps, "in_progress"
	r.writer.Append(r.own(d))
}

// maxProgress bounds what one call may say of its progress, in events.
const maxProgress = 200

// mayProgress counts what a tool says of its progress.
func (r *recorder) mayProgress(d *event.ProgressData) bool {
	if d.ToolCallID == "" {
		return true
	}
	if r.progressed == nil {
		r.progressed = make(map[string]int)
	}
	r.progressed[d.ToolCallID]++
	return r.progressed[d.ToolCallID] <= maxProgress
}
