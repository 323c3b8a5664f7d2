package identity

import (
	"strings"

	"github.com/google/uuid"
)

// UserID returns the id of the person with this e-mail address: the UUID5 of the
// trimmed, lower-cased address in the DNS namespace (REM), so that every service
// derives the same one. alice@example.com is edabafbb-61ad-51d6-9fd8-e976c892a731. The
// id of "" is "".
func UserID(email string) string {
	email = strings.ToLower(strings.TrimSpace(email))
	if email == "" {
		return ""
	}
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(email)).String()
}
