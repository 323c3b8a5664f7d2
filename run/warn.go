package run

import (
	"slices"

	"github.com/p8-org/p8/event"
)

// maxWarnings bounds the warnings of a run.
const maxWarnings = 100

// warn emits a warning once.
func (r *runner) warn(w event.WarningData) error {
	if len(r.warned) >= maxWarnings || slices.Contains(r.warned, w) || slices.Contains(r.Warnings, w) {
		return nil
	}
	r.warned = append(r.warned, w)
	return r.emit(event.New(&w))
}

// answering records which model responds, and warns if it changed. A fallback reports the
// change with the reason, unless the model changed while a tool sampled it.
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
