package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/redact"
)

func TestHideAndShow(t *testing.T) {
	v := every(t).Values()
	for _, c := range []struct{ text, want string }{
		{"sarah@example.com wrote to ole@example.com", "[email-1] wrote to [email-2]"},
		{"ole@example.com, +4712345678", "[email-2], [phone-1]"},
		{"what does [email-1] mean? [emails-1] [email-]", "what does [email-3] mean? [emails-1] [email-]"},
		{"[[email-1]]", "[[email-3]]"},
	} {
		got := v.Hide(c.text)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
		if back := v.Show(got); back != c.text {
			t.Errorf("%q is shown as %q", c.text, back)
		}
	}
	if got := v.Show("[email-4] [email-01] [EMAIL-1] [email-1"); got != "[email-4] [email-01] [EMAIL-1] [email-1" {
		t.Errorf("got %q", got)
	}
}

func TestHideJSON(t *testing.T) {
	v := every(t).Values()
	pem := whole("-----BE~GIN PRIVATE KEY-----\nMI\"IE\n-----END PRIVATE KEY-----")
	raw, _ := json.Marshal(map[string]any{"sarah@example.com": []any{pem, "T\u00e9l", true, nil, 1.5e3}, "n": json.Number("4111111111111111")})
	hidden := v.HideJSON(string(raw))
	if want := `{"n":"[card-1]","[email-1]":["[private-key-1]","Tél",true,null,1500]}`; hidden != want {
		t.Errorf("got %s, want %s", hidden, want)
	}
	var back map[string]any
	if err := json.Unmarshal([]byte(v.ShowJSON(hidden)), &back); err != nil || back["n"] != "4111111111111111" || back["sarah@example.com"].([]any)[0] != pem {
		t.Errorf("got %v, %v", back, err)
	}
	// A client escaped the @.
	if got, want := v.HideJSON(`{"to":"sarah\u0040example.com"}`), `{"to":"[email-1]"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for in, want := range map[string]string{
		`{"to":"sarah@example.com`: `{"to":"[email-1]`, "": "", `"\`: `"\`, "-": "-", "-4111111111111111": `"-[card-1]"`, `{"a":-1}`: `{"a":-1}`,
	} {
		if got := v.HideJSON(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestStreamShowsValuesThatAreSplit(t *testing.T) {
	v := every(t).Values()
	v.Hide("sarah@example.com \"x\"@y")
	text := "a [email-1] b [email-2] [ema c [[email-1]] [1,2] [email-1"
	want := v.Show(text)
	for size := 1; size < len(text); size++ {
		s := v.Stream(false)
		var got strings.Builder
		for at := 0; at < len(text); at += size {
			got.WriteString(s.Add(text[at:min(at+size, len(text))]))
		}
		got.WriteString(s.End())
		if got.String() != want {
			t.Errorf("in pieces of %d: got %q, want %q", size, got.String(), want)
		}
	}
	s := v.Stream(false)
	for _, c := range []struct{ piece, want string }{{"[1", "[1"}, {" [link", " [link"}, {" [ema", " "}, {"il-", ""}, {"1", ""}, {"] x", "sarah@example.com x"}, {"[email-11111111111111111111111111111111111", "[email-11111111111111111111111111111111111"}} {
		if got := s.Add(c.piece); got != c.want {
			t.Errorf("after %q: got %q, want %q", c.piece, got, c.want)
		}
	}
}

func TestReceived(t *testing.T) {
	r, err := redact.New(redact.Options{Patterns: []string{"personal"}, Own: []string{"word=[e]mail", "lines=(?s)B.*E"}})
	if err != nil {
		t.Fatal(err)
	}
	v := r.Values()
	v.Hide("sarah@example.com B\nE")
	for text, want := range map[string]string{
		"wrote to [email-1], not to ole@example.com": "wrote to sarah@example.com, not to [email]",
		"an email to [email-2]":                      "an [word] to [[word]-2]",
		`{"a":"[lines-1] [email-1]"}`:                `{"a":"B\nE sarah@example.com"}`,
		"[lines-1]":                                  "B\nE",
	} {
		if got := v.Received(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestValuesAreBounded(t *testing.T) {
	v := every(t).Values()
	for i := range 10_000 {
		v.Hide(fmt.Sprintf("u%d@example.com", i))
	}
	if got := v.Hide("more@example.com u0@example.com"); got != "[email] [email-1]" {
		t.Errorf("got %q", got)
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{
		"sarah@example.com [email-1] [email-2]", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "+47 123 45 678", "123-45-6789",
		whole("-----BE~GIN PRIVATE KEY-----\nx"), `{"a":"b\u0040example.com"}`, "T-1234 pin: 1234", "[[ticket-1]",
		`{"a":"x\nsarah@example.com","n":4111111111111111}`, `["{\"n\":4111111111111111,\"b\":\"\\n123-45-6789\"}"]`, `"\n+4712345678`, `x\u00f8@example.com`,
		`{"api_key":"0123456789abcdef"}`, `"\\"`, "correct horse", "postgres://a:b4c@d",
	} {
		f.Add(s, 3)
	}
	r, err := redact.New(redact.Options{Patterns: []string{"all"}, Own: []string{`ticket=\bT-[0-9]{4,}`, "any=[b-d]{3}"}, Secrets: []string{"correct horse"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string, size int) {
		v := r.Values()
		hidden := v.Hide(s)
		if again := v.Hide(s); again != hidden {
			t.Fatalf("%q is hidden as %q, then as %q", s, hidden, again)
		}
		if json.Valid([]byte(s)) {
			for _, got := range []string{v.HideJSON(s), v.ShowJSON(v.HideJSON(s)), v.Received(v.HideJSON(s)), r.Text(s), hidden} {
				bare := strings.TrimLeft(s, " \t\r\n")[0]
				if !json.Valid([]byte(got)) && strings.IndexByte(`{["`, bare) >= 0 {
					t.Fatalf("%q is no JSON any more: %q", s, got)
				}
			}
			return // escape sequences may be written in another way
		}
		if back := v.Show(hidden); back != s {
			t.Fatalf("%q is hidden as %q and shown as %q", s, hidden, back)
		}
		size = max(1, size%16)
		stream, got := v.Stream(false), ""
		for at := 0; at < len(hidden); at += size {
			got += stream.Add(hidden[at:min(at+size, len(hidden))])
		}
		if got += stream.End(); got != s {
			t.Fatalf("%q is shown as %q in pieces of %d", s, got, size)
		}
		if strings.Contains(r.Text(s+" sarah@example.com"), "sarah@example.com") {
			t.Fatalf("%q leaks an address", s)
		}
	})
}
