package redact

import "strings"

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// isAlone reports whether the bytes from start to end are not a part of a longer number or word:
// 123-45-6789 is a part of 0-123-45-6789 and of x123-45-6789.
func isAlone(s string, start, end int) bool {
	joins := func(c byte) bool { return c == '-' || c == '.' }
	switch {
	case start > 0 && isWord(s[start-1]), end < len(s) && isWord(s[end]):
		return false
	case start > 1 && joins(s[start-1]) && isWord(s[start-2]):
		return false
	case end+1 < len(s) && joins(s[end]) && isDigit(s[end+1]):
		return false
	}
	return true
}

// isNumberByte reports whether a number of a phone, a card or a person may have the byte.
func isNumberByte(c byte) bool { return isDigit(c) || strings.IndexByte(" +-./()", c) >= 0 }

// isEmailByte reports whether an e-mail address may have the byte.
func isEmailByte(c byte) bool { return isWord(c) || c >= 0x80 || strings.IndexByte("@.%+'-", c) >= 0 }

// hasDigits reports whether a text has n digits or more.
func hasDigits(n int) func(string) bool {
	return func(s string) bool {
		count := 0
		for i := 0; i < len(s) && count < n; i++ {
			if isDigit(s[i]) {
				count++
			}
		}
		return count >= n
	}
}

// phone accepts the first groups of a number with the 8 to 15 digits of E.164.
func phone(s string, start, end int, add func(start, end int)) {
	digits, best := 0, 0
	if strings.HasPrefix(s[start:], "00") {
		digits = -2
	}
	for i := start; i < end; i++ {
		if !isDigit(s[i]) {
			continue
		}
		if digits++; digits >= 8 && digits <= 15 && (i+1 == end || !isDigit(s[i+1])) {
			best = i + 1
		}
	}
	if best > 0 && isAlone(s, start, best) {
		add(start, best)
	}
}

// ssn accepts the numbers that the US Social Security Administration may give.
func ssn(s string, start, end int, add func(start, end int)) {
	area, group, serial := s[start:start+3], s[start+4:start+6], s[end-4:end]
	if s[start+3] != s[start+6] || area == "000" || area == "666" || area[0] == '9' || group == "00" || serial == "0000" || !isAlone(s, start, end) {
		return
	}
	add(start, end)
}

// card finds the numbers of cards in a run of digits, which may be in groups. A number begins and
// ends with a group.
func card(s string, start, end int, add func(start, end int)) {
	if !isAlone(s, start, end) {
		return
	}
	const shortest, longest = 13, 19
	for at := start; at < end; at++ {
		if !isDigit(s[at]) || at > start && isDigit(s[at-1]) {
			continue
		}
		best, number := 0, make([]byte, 0, longest)
		for i := at; i < end && len(number) < longest; i++ {
			if !isDigit(s[i]) {
				continue
			}
			number = append(number, s[i])
			if len(number) >= shortest && (i+1 == end || !isDigit(s[i+1])) && isIssued(string(number)) && isLuhn(string(number)) {
				best = i + 1
			}
		}
		if best > 0 {
			add(at, best)
			at = best
		}
	}
}

// isIssued reports whether a number has the beginning and the length of a card's.
func isIssued(number string) bool {
	n := len(number)
	switch two := number[:2]; {
	case number[0] == '4':
		return n == 13 || n == 16 || n == 19
	case two >= "51" && two <= "55", number[:4] >= "2221" && number[:4] <= "2720":
		return n == 16
	case two == "34", two == "37":
		return n == 15
	case two == "30", two == "36", two == "38", two == "39":
		return n >= 14
	case two == "35", number[0] == '6', two == "50", two >= "56" && two <= "58":
		return n >= 16 || number[0] != '3' && n >= 13 && two != "60" && two != "65" // Maestro has 12 to 19
	}
	return false
}

// isLuhn reports whether the last digit of a number is its check digit.
func isLuhn(number string) bool {
	sum := 0
	for i := range number {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// ibanLengths has the length of each country's account numbers, after its code.
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 " +
	"GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 " +
	"MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"

// ibans finds account numbers.
func ibans(s string, add func(start, end int)) {
	for i := 0; i+4 < len(s); i++ {
		if isDigit(s[i+3]) && isDigit(s[i+2]) && (i == 0 || !isWord(s[i-1])) {
			if n := iban(s[i:]); n > 0 {
				add(i, i+n)
			}
		}
	}
}

// iban returns the length of the account number that begins s, which has the length of its country
// and the right checksum (ISO 13616), in groups or not; 0 for none.
func iban(s string) int {
	at := strings.Index(ibanLengths, strings.ToUpper(s[:2]))
	if at < 0 || at%5 != 0 {
		return 0
	}
	want := int(ibanLengths[at+2]-'0')*10 + int(ibanLengths[at+3]-'0')
	number, end := make([]byte, 0, want), 0
	for ; end < len(s) && len(number) < want; end++ {
		switch c := s[end]; {
		case isDigit(c), c >= 'A' && c <= 'Z':
			number = append(number, c)
		case c >= 'a' && c <= 'z':
			number = append(number, c-'a'+'A')
		case (c == ' ' || c == '-') && end > 0 && isWord(s[end-1]):
		default:
			return 0
		}
	}
	if len(number) < want || end < len(s) && isWord(s[end]) || !isIBAN(number) {
		return 0
	}
	return end
}

// isIBAN reports whether a number leaves 1 when it is divided by 97, with the country and the
// checksum at its end and each letter as a number from 10 to 35.
func isIBAN(number []byte) bool {
	rest := 0
	for i := range number {
		c := number[(i+4)%len(number)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A'+10)) % 97
		}
	}
	return rest == 1
}
