package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/redact"
)

// samples has a match of each pattern.
func samples() map[string]string {
	return map[string]string{
		"email": "jørn@example.com", "iban": "GB82WEST12345698765432", "card": "4111111111111111", "ssn": "123-45-6789", "phone": "212-555-0123",
		"private-key": whole("-----BE~GIN PRIVATE KEY-----\nMI\"IE\n-----END PRIVATE KEY-----"), "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzYXJhaCJ9.c2lnbmF0dXJl",
		"aws": whole("AK~IAIOSFODNN7EXAMPLE"), "token": whole("gh~p_") + strings.Repeat("a1", 20), "p8": auth.NewKey(), "ticket": "T-1234",
	}
}

// nested returns a text in JSON that is itself a text in JSON, and so on.
func nested(levels int, text string) string {
	for range levels {
		raw, _ := json.Marshal(map[string]any{"a": text, "n": 1.50})
		text = string(raw)
	}
	return text
}

func TestMatchesBehindEscapes(t *testing.T) {
	r := every(t)
	for name, value := range samples() {
		for _, mark := range []string{"\n", "\t", "\r", "\"", "<", "\u00a0", ""} {
			for levels := range 4 {
				text, want := nested(levels, "see"+" "+mark+value), nested(levels, "see "+mark+"["+name+"]")
				same := func(how, got, want string) {
					t.Helper()
					// The marks may be written in another way.
					unescape := strings.NewReplacer(`\u003c`, "<", `\\u003c`, "<", `\\\u003c`, "<", `\`, "").Replace
					if unescape(got) != unescape(want) {
						t.Errorf("%s of %q: got %q, want %q", how, text, got, want)
					}
				}
				same("Text", r.Text(text), want)
				same("Received", r.Values().Received(text), want)
				v, first := r.Values(), strings.ReplaceAll(want, "["+name+"]", "["+name+"-1]")
				same("Hide", v.Hide(text), first)
				if got := v.Show("[" + name + "-1]"); got != value {
					t.Errorf("Hide of %q: shown as %q", text, got)
				}
				same("HideJSON", r.Values().HideJSON(text), first)
				if name == "private-key" {
					continue // one that is cut goes on to the end of the text
				}
				// Cut in the middle, it is no JSON.
				cut := strings.TrimSuffix(text, "}") + `,"b":"`
				same("cut Text", r.Text(cut), strings.TrimSuffix(want, "}")+`,"b":"`)
				v = r.Values()
				if got := v.Show(v.Hide(cut)); got != cut || strings.Contains(v.Hide(cut), value) {
					t.Errorf("%q is hidden as %q, and shown as %q", cut, v.Hide(cut), got)
				}
			}
		}
	}
}

func TestJSONStaysJSON(t *testing.T) {
	r, err := redact.New(redact.Options{Patterns: []string{"all"}, Own: []string{`pin="pin": ?([0-9]{4})`}, Secrets: []string{`pass"<&>word`}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"a":"x\nsarah@example.com"}`:                       `{"a":"x\n[email]"}`,
		`{"a":"J\u00f8rn@example.com"}`:                      `{"a":"[email]"}`,
		`{"a":"J\u00f8rn@example.com`:                        `{"a":"[email]`,
		`{ "n" : 4111111111111111, "m": 1.50, "a":"\u0041"}`: `{ "n" : "[card]", "m": 1.50, "a":"\u0041"}`,
		`{"a":"{\"n\":4111111111111111}"}`:                   `{"a":"{\"n\":\"[card]\"}"}`,
		`{"pass\"\u003c\u0026>word":1}`:                      `{"[p8]":1}`,
		`x {"pass\"\u003c\u0026>word":1}`:                    `x {"[p8]":1}`,
		`{"api_key":"0123456789abcdef"}`:                     `{"api_key":"[token]"}`,
		`{"a":"{\"api_key\": \"0123456789abcdef\"}"}`:        `{"a":"{\"api_key\": \"[token]\"}"}`,
		`…{\"api_key\":\"0123456789abcdef\"}`:                `…{\"api_key\":\"[token]\"}`,
		`{"pin":1234,"pan": 5678}`:                           `{"pin":"[pin]","pan": 5678}`,
		"[\n  \"ole@example.com\",\n  -1\n]":                 "[\n  \"[email]\",\n  -1\n]",
		`{"a":"x\/ole@example.com"`:                          `{"a":"x\/[email]"`,
		`"x\nole@example.com"`:                               `"x\n[email]"`,
		`4111111111111111`:                                   `[card]`,
		`C:\new\ole@example.com \`:                           `C:\new\[email] \`,
		`\u00zz\ud83d\u`:                                     `\u00zz\ud83d\u`,
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		if got := r.Values().Received(text); got != want {
			t.Errorf("received %s\n got %s\nwant %s", text, got, want)
		}
	}
	v := r.Values()
	v.Hide("ole@example.com")
	if got, want := v.Received(`{"a":"{\"to\":\"[email-1]\\nx\",\"api_key\":\"0123456789abcdef\"}"}`), `{"a":"{\"to\":\"ole@example.com\\nx\",\"api_key\":\"[token]\"}"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := v.HideJSON("ole@example.com"); got != "[email-1]" {
		t.Errorf("a text that is no JSON is hidden as %s", got)
	}
}
