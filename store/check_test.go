package store

import (
	"encoding/json"
	"testing"
)

func TestCleanEscapes(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                          `{}`,
		`"a\nb"`:                      `"a\nb"`,
		`"\u0041\u00e9"`:              `"\u0041\u00e9"`,
		`"\u0000"`:                    `"\ufffd"`,
		`"\\u0000"`:                   `"\\u0000"`,
		`"\\\u0000\\"`:                `"\\\ufffd\\"`,
		`"\ud83d\ude42"`:              `"\ud83d\ude42"`,
		`"\uD83D\uDE42\uD83D"`:        `"\uD83D\uDE42\ufffd"`,
		`"\ude42\ud83d"`:              `"\ufffd\ufffd"`,
		`"\ud83dx\ud83d\ud83d\ude42"`: `"\ufffdx\ufffd\ud83d\ude42"`,
		`{"\u0000":["\u0000"]}`:       `{"\ufffd":["\ufffd"]}`,
	} {
		raw := json.RawMessage(in)
		if err := checkJSON("x", &raw); err != nil || string(raw) != want {
			t.Errorf("%s becomes %s (%v), want %s", in, raw, err, want)
		}
	}
}

// Whatever is accepted is JSON that holds texts.
func FuzzCleanEscapes(f *testing.F) {
	f.Add([]byte(`{"\u0000":"\ud83d\ude42\ud83d"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		raw, before := json.RawMessage(b), string(b)
		if checkJSON("x", &raw) != nil || len(raw) == 0 {
			return
		}
		if !json.Valid(raw) || len(raw) != len(before) {
			t.Errorf("%s becomes %s", before, raw)
		}
		if string(b) != before {
			t.Errorf("%s was changed in place", before)
		}
	})
}
