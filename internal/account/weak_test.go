package account

import (
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

func TestPasswordsThatAreGuessed(t *testing.T) {
	const address = "alice@example.com"
	for password, ok := range map[string]bool{
		"correct horse": true, "aaaaaaaaaabc": false, "abcabcabcabc": false, strings.Repeat(" ", 12): false, "aaaaaaaaabcd": true,
		address: false, " Alice@Example.com ": false, identity.UserID(address): false, "bob.smith@example.com": true, "short": false,
	} {
		if err := checkNew(identity.UserID(address), password); (err == nil) != ok || err != nil && (!errors.Is(err, store.ErrInvalid) || strings.Contains(err.Error(), password)) {
			t.Errorf("%q: %v", password, err)
		}
	}
}
