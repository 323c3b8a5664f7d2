package redact

import (
	"regexp"
	"strings"
)

// pattern finds one kind of secret.
type pattern struct {
	name, group string
	// find calls add with the bounds of each match in s.
	find func(s string, add func(start, end int))
}

// The groups of built-in patterns.
const (
	groupAll      = "all"
	groupPersonal = "personal"
	groupSecrets  = "secrets"
)

// Names returns the names of the built-in patterns and of their groups.
func Names() []string {
	names := []string{groupAll, groupPersonal, groupSecrets}
	for _, p := range builtin(nil) {
		names = append(names, p.name)
	}
	return names
}

// builtin returns the built-in patterns; the first of two takes precedence where both match.
func builtin(secrets []string) []pattern {
	return []pattern{
		{"private-key", groupSecrets, find(privateKey, anyOf("PRIVATE KEY", "AGE-SECRET-KEY-"), nil)},
		{"p8", groupSecrets, ownKeys(secrets)},
		{"jwt", groupSecrets, find(jwt, anyOf("eyJ"), wholeWord)},
		{"aws", groupSecrets, find(aws, anyOf("AKIA", "ASIA", "ABIA", "ACCA", "ecretAccess", "ecretaccess", "ecret_access", "ecret-access", "ECRET_ACCESS", "ecret_key", "ECRET_KEY"), nil)},
		{"token", groupSecrets, tokens()},
		{"email", groupPersonal, inside(isEmailByte, anyOf("@", "%40"), find(email, nil, nil))},
		{"iban", groupPersonal, ibans},
		{"card", groupPersonal, inside(isNumberByte, hasDigits(13), find(cardDigits, nil, card))},
		{"ssn", groupPersonal, inside(isNumberByte, hasDigits(9), find(ssnDigits, nil, ssn))},
		{"phone", groupPersonal, inside(isNumberByte, hasDigits(8), find(phoneDigits, nil, phone))},
	}
}

// The expressions of the built-in patterns. If one has a group, the group is the secret.
const (
	// A key without its last line is one up to the end of the text.
	privateKey = `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)|\bAGE-SECRET-KEY-1[A-Z0-9]{50,}`
	jwt        = `eyJ[\w-]{6,}\.[\w-]{4,}\.[\w-]*(?:\.[\w-]+){0,2}`
	aws        = `\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b|(?i:secret_?-?access_?-?key|aws_?-?secret_?-?key)["']?\s*[:=]\s*["']?([A-Za-z0-9/+=]{40})`
	p8Keys     = `\bp8_[a-z2-7]{40,}|\b(?:anon|link)-[\w-]{43}`
	email      = `[\pL\pN._%+'-]+(?:@|%40)(?:[\pL\pN-]+\.)+\pL{2,}`
	cardDigits = `[0-9](?:[ -]?[0-9]){12,}`
	ssnDigits  = `[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}`
	// Without a + in front, only the form of North America is told from other numbers.
	phoneDigits = `(?:\+|\b00)[1-9](?:[ .()/-]{0,3}[0-9]){7,}|(?:\([2-9][0-9]{2}\) ?|\b[2-9][0-9]{2}[.-])[2-9][0-9]{2}[ .-][0-9]{4}\b`
	// What is sent as credentials in headers, and the password in a URL.
	header   = `(?i:\b(?:bearer|basic)\s+|\bapi[_-]?key["']?\s*[:=]\s*["']?)([\w.~+/=-]{16,})`
	password = `://[^\s/:@"']{0,64}:([^\s/@"']{3,})@`
)

// expressions finds the first group of an expression that took part in a match, the whole match
// without one.
func expressions(re *regexp.Regexp) func(string, func(start, end int)) {
	return func(s string, add func(start, end int)) {
		for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
			start, end := m[0], m[1]
			for i := 2; i < len(m); i += 2 {
				if m[i] >= 0 {
					start, end = m[i], m[i+1]
					break
				}
			}
			add(start, end)
		}
	}
}

// find finds the matches of an expression in texts that it may be in. within narrows the match
// from start to end, or refuses it, by calling add or not; nil accepts each.
func find(expression string, may func(string) bool, within func(s string, start, end int, add func(start, end int))) func(string, func(start, end int)) {
	all := expressions(regexp.MustCompile(expression))
	return func(s string, add func(start, end int)) {
		if may != nil && !may(s) {
			return
		}
		all(s, func(start, end int) {
			if within == nil {
				add(start, end)
				return
			}
			within(s, start, end, add)
		})
	}
}

// inside narrows a search to the parts of a text that have only bytes of one kind and that may have
// a match, as an expression takes long for each byte. A match at the edge of a part does not go on
// as a word.
func inside(kind func(byte) bool, may func(string) bool, search func(string, func(start, end int))) func(string, func(start, end int)) {
	return func(s string, add func(start, end int)) {
		for at := 0; at < len(s); at++ {
			start := at
			for at < len(s) && kind(s[at]) {
				at++
			}
			if part := s[start:at]; part != "" && may(part) {
				before, after := start > 0 && isWord(s[start-1]), at < len(s) && isWord(s[at])
				search(part, func(from, to int) {
					if !(from == 0 && before) && !(to == len(part) && after) {
						add(start+from, start+to)
					}
				})
			}
		}
	}
}

// wholeWord accepts matches that do not begin within a word.
func wholeWord(s string, start, end int, add func(start, end int)) {
	if start == 0 || !isWord(s[start-1]) {
		add(start, end)
	}
}

// anyOf reports whether a text has one of the parts, which is much faster than an expression.
func anyOf(parts ...string) func(string) bool {
	return func(s string) bool {
		for _, part := range parts {
			if strings.Contains(s, part) {
				return true
			}
		}
		return false
	}
}
