package redact_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/redact"
)

func every(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Options{
		Patterns: []string{"all"}, Own: []string{`ticket=\bT-[0-9]{4,}`, `code=(?i)pin: *([0-9]{4})`}, Secrets: []string{"correct horse", "short"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// whole removes the marks that keep the secrets of this test from looking like leaked ones.
func whole(s string) string { return strings.ReplaceAll(s, "~", "") }

func TestText(t *testing.T) {
	key := auth.NewKey()
	for text, want := range map[string]string{
		"":         "",
		"no match": "no match",
		"Write to sarah.chen+x@mail.example.com, or ole@møre.no.": "Write to [email], or [email].",
		"https://x.example/?to=sarah%40example.com&a=1":           "https://x.example/?to=[email]&a=1",
		"a@b.example.2 sarah@example.com_ x-ole@example.com-1":    "[email].2 [email]_ [email]-1",
		"x123-45-6789 4111111111111111x ORD-1-4111111111111111":   "x123-45-6789 4111111111111111x ORD-1-[card]",
		"meet me @ noon, @sarah":                                  "meet me @ noon, @sarah",

		"card 4111 1111 1111 1111, or 378282246310005.": "card [card], or [card].",
		"4111-1111-1111-1112 fails the check digit":     "4111-1111-1111-1112 fails the check digit",
		"2026-11-23 5555555555554444":                   "2026-11-23 [card]",
		"0.4111111111111111 and 94111111111111111":      "0.4111111111111111 and 94111111111111111",
		`{"n":4111111111111111}`:                        `{"n":"[card]"}`,

		"IBAN DE89 3704 0044 0532 0130 00 and more": "IBAN [iban] and more",
		"GB82WEST12345698765432, no9386011117947.":  "[iban], [iban].",
		"GB82WEST12345698765431 has no checksum":    "GB82WEST12345698765431 has no checksum",

		"SSN 123-45-6789 or 123 45 6789":                     "SSN [ssn] or [ssn]",
		"000-12-3456 900-12-3456 1-123-45-6789 123-45-67890": "000-12-3456 900-12-3456 1-123-45-6789 123-45-67890",

		"call +47 123 45 678 or (212) 555-0123 or 212-555-0123":        "call [phone] or [phone] or [phone]",
		"+4712345678 99999999999999":                                   "[phone] 99999999999999",
		"+1 (212) 555-0123 and 0047 12345678":                          "[phone] and [phone]",
		"at 2026-11-23T04:53:45Z, 192.168.1.100:8000, 1+2, 1700000000": "at 2026-11-23T04:53:45Z, 192.168.1.100:8000, 1+2, 1700000000",

		"a\n-----BE~GIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb":            "a\n[private-key]\nb",
		"cut: -----BE~GIN PRIVATE KEY-----\nMIIEvQ":                                              "cut: [private-key]",
		"-----BE~GIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----":                          "-----BE~GIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzYXJhaCJ9.c2lnbmF0dXJlLXNpZ25hdHVyZQ signed":            "[jwt] signed",
		"Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzYXJhaCJ9.c2ln":                   "Authorization: Bearer [jwt]",
		"Authorization: Bearer 0123456789abcdef0123":                                             "Authorization: Bearer [token]",
		"bearer responsibilities":                                                                "bearer responsibilities",
		`"api_key": "0123456789abcdef"`:                                                          `"api_key": "[token]"`,
		"s~k-proj-abcdefghijklmnopqrstuvwxyz. A tas~k-force-of-many-people-everywhere":           "[token]. A tas~k-force-of-many-people-everywhere",
		"ghp_" + strings.Repeat("a1", 20) + ", AIza" + strings.Repeat("b", 35):                   "[token], [token]",
		"postgres://p8:hunter@db/p8":                                                             "postgres://p8:[token]@db/p8",
		"AK~IAIOSFODNN7EXAMPLE aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "[aws] aws_secret_access_key = [aws]",
		"a key: " + key + ".": "a key: [p8].",
		"anon-" + strings.Repeat("A", 43) + " link-" + strings.Repeat("b", 43): "[p8] [p8]",
		"the correct horse, a short one":                                       "the [p8], a short one",

		"T-1234 and pin: 4321": "[ticket] and pin: [code]",
		"T-1234@example.com":   "[ticket]", // overlapping matches are one
	} {
		text, want = whole(text), whole(want)
		if got := every(t).Text(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestNilRedactorReplacesNothing(t *testing.T) {
	r, err := redact.New(redact.Options{Secrets: []string{"correct horse"}})
	if err != nil || r != nil {
		t.Fatal(r, err)
	}
	v := r.Values()
	s := "sarah@example.com [email-1]"
	if r.Text(s) != s || v.Hide(s) != s || v.HideJSON(s) != s || v.Show(s) != s {
		t.Error("a nil redactor replaced something")
	}
}

func TestGroups(t *testing.T) {
	r, err := redact.New(redact.Options{Patterns: []string{"secrets", "phone"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Text(whole("sarah@example.com +4712345678 AK~IAIOSFODNN7EXAMPLE")), "sarah@example.com [phone] [aws]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMistakes(t *testing.T) {
	for own, want := range map[string]string{
		"ticket":                              `"ticket" has no =`,
		"Ticket=x":                            `"Ticket" is no name`,
		"x-1=x":                               `"x-1" is no name`,
		"=x":                                  `"" is no name`,
		"email=x":                             "built-in",
		"all=x":                               "built-in",
		"ticket=(":                            "missing closing )",
		"ticket=a*":                           "empty text",
		"ticket=(?=)":                         "not one of RE2",
		"ticket=" + strings.Repeat("a", 3000): "longer than",
	} {
		if _, err := redact.New(redact.Options{Own: []string{own}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: got %v, want %q", own, err, want)
		}
	}
	if _, err := redact.New(redact.Options{Own: []string{"a=x", "a=y"}}); err == nil {
		t.Error("two patterns have one name")
	}
	if _, err := redact.New(redact.Options{Patterns: []string{"e-mail"}}); err == nil || !strings.Contains(err.Error(), `no pattern "e-mail"`) {
		t.Errorf("got %v", err)
	}
}

// TestHostileText is about texts made to take long: each is linear.
func TestHostileText(t *testing.T) {
	r := every(t)
	for _, part := range []string{"a", "@", "a@", "1", "1 ", "+1", "[", "[email-", "-----BE~GIN PRIVATE KEY-----", "://", "://:", "bearer ", "DE89 ", "\xff", "eyJ", "sk-", "\x00", `\`, `\n`, `\u0031`, `\"`} {
		text := strings.Repeat(whole(part), 200_000/len(part))
		v := r.Values()
		if v.Show(v.Hide(text)) != text {
			t.Errorf("%q is not shown as it was", part)
		}
	}
	for _, part := range []string{`"a":"b",`, `"1":1,`, `"a":{},`, `"a":"[\"b\"]",`, `"a":"[[[[[[",`} {
		text := "{" + strings.TrimSuffix(strings.Repeat(part, 50_000/len(part)), ",") + "}"
		if got := r.Text(text); got != text {
			t.Errorf("%q became %.50q", part, got)
		}
	}
}

func BenchmarkTextInJSON(b *testing.B) {
	r := every(b)
	text := "[" + strings.Repeat(`{"id": 12, "title": "The team met on 2026-11-23", "text": "They decided\nto ship version 1.24.3 by Friday, see \"it\"."},`, 800) + "1]"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}

func BenchmarkText(b *testing.B) {
	r := every(b)
	text := strings.Repeat("The team met on 2026-11-23 at 10:30, and task-force 12 decided to ship version 1.24.3 by Friday, see https://example.com/a/b?c=1. ", 800) + "sarah@example.com"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}
