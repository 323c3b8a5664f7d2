package store

import (
	"strings"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
)

// EntityID returns p8's deterministic id: the UUID5 of "table:key:user" in the
// namespace of "p8.dev". user is "" for a shared row.
func EntityID(table, key, user string) string {
	namespace := uuid.UUID{0xd1, 0x22, 0xdb, 0x5d, 0xac, 0xeb, 0x56, 0x73, 0xb6, 0xe0, 0xce, 0x9e, 0x43, 0x28, 0xe7, 0x25}
	return uuid.NewSHA1(namespace, []byte(table+":"+key+":"+user)).String()
}

// NormalizeKey returns the form of a name under which LOOKUP finds it: lower case
// (NFC), letters, digits and their marks of any script, everything between them
// one "-", none at the ends; apostrophes vanish. "Sarah Chen" is "sarah-chen".
//
// Unlike p8's first version it drops no letter, and every other sign separates:
// "q4_report.v2" is "q4-report-v2" (first: "q4-reportv2"), "a/b:c" is "a-b-c" (first:
// "abc"), "Café Ü" is "café-ü" (first: "caf-").
func NormalizeKey(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	gap := false
	for _, r := range norm.NFC.String(name) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsNumber(r),
			unicode.IsMark(r) && b.Len() > 0 && !gap:
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(unicode.ToLower(r))
		case r == '\'', r == '’', r == 'ʼ':
		default:
			gap = true
		}
	}
	return norm.NFC.String(b.String())
}

// checkKey returns a name's key; a name without a letter or digit has none.
func checkKey(name string) (string, error) {
	if !printable(name, maxName) {
		return "", invalidf("a name must be 1-%d printable characters", maxName)
	}
	key := NormalizeKey(name)
	if key == "" {
		return "", invalidf("the name %q has no letter and no digit", name)
	}
	return key, nil
}

func newID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

func checkName(name string) error {
	_, err := checkKey(name)
	return err
}
