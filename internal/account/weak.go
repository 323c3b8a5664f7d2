package account

import (
	"fmt"
	"strings"

	"github.com/p8-org/p8/store"
)

// minDifferent is how many different characters a password has at least.
const minDifferent = 4

// checkNew accepts a new password of a user, by id.
func checkNew(user, password string) error {
	if err := checkPassword(password); err != nil {
		return err
	}
	return checkGuess(user, password)
}

// checkGuess refuses a password that is tried first: the user's own address or id, or a few
// characters again and again.
func checkGuess(user, password string) error {
	different := map[rune]bool{}
	for _, r := range password {
		different[r] = true
	}
	if len(different) < minDifferent {
		return fmt.Errorf("%w: the password has fewer than %d different characters: choose one that is harder to guess", store.ErrInvalid, minDifferent)
	}
	if id, _, err := person(strings.TrimSpace(password)); err == nil && id == user {
		return fmt.Errorf("%w: the password is the user's own address or id: choose another one", store.ErrInvalid)
	}
	return nil
}
