package run

import (
	"slices"

	"p8/event"
)

// maxWarnings bounds what a run warns of.
const maxWarnings = 100

// warn tells of something that the run survives, once.
func (r *runner) warn(w event.WarningData) error {
	if len(r.warned) >= maxWarnings || slices.Contains(r.warned, w) || slices.Contains(r.Warnings, w) {
		return nil
	}
	r.warned = append(r.warned, w)
	return r.emit(event.New(&w))
}

// answering says that another model answers than did until now; "" is the one
// that was asked.
func (r *runner) answering(model, why string) error {
	if model == r.model {
		return nil
	}
	r.model = model
	w := event.WarningData{Code: event.CodeModelFallback, Model: model, Message: model + " answers instead"}
	switch {
	case model == "":
		w.Model = r.Model.Name()
		w.Message = w.Model + " answers again"
	case why != "":
		w.Message = why + ": " + w.Message
	}
	return r.emit(event.New(&w))
}
