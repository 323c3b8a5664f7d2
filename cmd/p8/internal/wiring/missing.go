package wiring

import (
	"errors"

	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/memory"
)

// errNotStored is the error of parts that need a database.
var errNotStored = errors.New("nothing is stored here, so nothing is remembered: set P8_DATABASE_URL to a database")

// Remembering returns the builder of moments, an error without a database.
func (p *Parts) Remembering() (*memory.Builder, error) { return required(p.builder) }

// Dreaming returns the dream service, an error without a database.
func (p *Parts) Dreaming() (*dream.Service, error) { return required(p.dreams) }

// Reminding returns the reminder service, an error without a database.
func (p *Parts) Reminding() (*reminder.Service, error) { return required(p.reminders) }

// required returns a part, or an error if it is nil.
func required[T any](part *T) (*T, error) {
	if part == nil {
		return nil, errNotStored
	}
	return part, nil
}
