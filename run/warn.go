package run

import (
	"slices"

	"github.com/p8-org/p8/event"
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

// answering says that another model answers than did until now. A chain of models
// tells of the change, and why; or it changed when a tool asked it.
func (r *runner) answering(model, why string) error {
	if model == r.model {
		return nil
	}
	r.model = model
	said := model + " answers from here on"
	if why != "" {
		said = why + ": " + model + " answers instead"
	}
	return r.emit(event.New(&event.WarningData{Code: event.CodeModelFallback, Model: model, Message: said}))
}
