package wiring

import (
	"errors"

	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/memory"
)

// errForgetful says that what remembers is not there.
var errForgetful = errors.New("nothing is stored here, so nothing is remembered: set P8_DATABASE_URL to a database")

// Remembering sums up sessions.
func (p *Parts) Remembering() (*memory.Builder, error) { return there(p.builder) }

// Dreaming makes moments and dreams of a user's days.
func (p *Parts) Dreaming() (*dream.Service, error) { return there(p.dreams) }

// Reminding keeps reminders.
func (p *Parts) Reminding() (*reminder.Service, error) { return there(p.reminders) }

// there is a part that is there only where something is stored.
func there[T any](part *T) (*T, error) {
	if part == nil {
		return nil, errForgetful
	}
	return part, nil
}
