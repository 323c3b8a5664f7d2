package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestFailuresOfTheDatabase: what a caller asked for wrongly is none.
func TestFailuresOfTheDatabase(t *testing.T) {
	for _, result := range []error{nil, ErrNotFound, ErrInvalid, ErrConflict, ErrForbidden} {
		err := result
		if err != nil {
			err = fmt.Errorf("get moment: %w", err)
		}
		if got := failureOf(err); got != nil {
			t.Errorf("%v is a failure", got)
		}
	}
	for _, failure := range []error{errors.New("disk full"), context.DeadlineExceeded} {
		if failureOf(failure) == nil {
			t.Errorf("%v is no failure", failure)
		}
	}
}
