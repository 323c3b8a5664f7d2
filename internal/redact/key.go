package redact

import "strings"

// keyMark begins the keys of a provider; least is the number of bytes that follow at least.
type keyMark struct {
	mark  string
	least int
}

func keyMarks() []keyMark {
	return []keyMark{
		{"sk-", 20}, {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16}, {"rk_test_", 16}, {"whsec_", 20},
		{"AIza", 35}, {"ya29.", 20}, {"gsk_", 40}, {"hf_", 30}, {"xai-", 40}, {"pplx-", 32}, {"r8_", 30}, {"tvly-", 20},
		{"ghp_", 36}, {"gho_", 36}, {"ghu_", 36}, {"ghs_", 36}, {"ghr_", 36}, {"github_pat_", 22}, {"glpat-", 20},
		{"xoxa-", 10}, {"xoxb-", 10}, {"xoxe-", 10}, {"xoxo-", 10}, {"xoxp-", 10}, {"xoxr-", 10}, {"xoxs-", 10}, {"xapp-", 20},
		{"npm_", 36}, {"pypi-", 40}, {"SG.", 32}, {"dop_v1_", 40}, {"shpat_", 32}, {"shpca_", 32}, {"shppa_", 32}, {"shpss_", 32},
	}
}

// tokens finds the keys of providers, and what is sent as credentials.
func tokens() func(string, func(start, end int)) {
	marks := keyMarks()
	sent := find(header, anyOf("earer", "EARER", "asic", "ASIC", "ey:", "EY:", "ey=", "EY=", `ey"`, "ey'", "ey ", "KEY"), hasDigit)
	inURL := find(password, anyOf("://"), nil)
	return func(s string, add func(start, end int)) {
		for _, m := range marks {
			for at := next(s, m.mark, 0); at >= 0; {
				end := keyEnd(s, at+len(m.mark))
				if end-at-len(m.mark) >= m.least && (at == 0 || !isWord(s[at-1])) {
					add(at, end)
				}
				at = next(s, m.mark, end)
			}
		}
		sent(s, add)
		inURL(s, add)
	}
}

// next returns the index of part in s from a byte on, -1 for none.
func next(s, part string, from int) int {
	i := strings.Index(s[from:], part)
	if i < 0 {
		return -1
	}
	return from + i
}

// keyEnd returns the end of a key that goes on at a byte. Punctuation is a part of it if the key
// goes on after it.
func keyEnd(s string, at int) int {
	for end := at; end < len(s); end++ {
		switch c := s[end]; {
		case isWord(c), c == '-':
			at = end + 1
		case c == '.', c == '+', c == '/', c == '=':
		default:
			return at
		}
	}
	return at
}

// minSecret is the shortest literal secret that is found, in bytes.
const minSecret = 8

// ownKeys finds the keys that p8 makes, and the secrets.
func ownKeys(secrets []string) func(string, func(start, end int)) {
	made := find(p8Keys, anyOf("p8_", "anon-", "link-"), nil)
	return func(s string, add func(start, end int)) {
		made(s, add)
		for _, secret := range secrets {
			if len(secret) < minSecret {
				continue
			}
			for at := next(s, secret, 0); at >= 0; at = next(s, secret, at+len(secret)) {
				add(at, at+len(secret))
			}
		}
	}
}

// hasDigit accepts matches with a digit, which no word of a language has.
func hasDigit(s string, start, end int, add func(start, end int)) {
	if strings.ContainsAny(s[start:end], "0123456789") {
		add(start, end)
	}
}
