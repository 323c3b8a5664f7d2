package chat

import "github.com/p8-org/p8/event"

// progressSteps is the number of steps that a turn reports (REMLight).
const progressSteps = 3

func (r *recorder) progress(d *event.ProgressData) {
	d.TotalSteps, d.Status = progressSteps, "in_progress"
	r.writer.Append(r.own(d))
}

// maxProgress bounds the progress events of one call.
const maxProgress = 200

// mayProgress counts the progress events of a call, and reports whether to show this one.
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
