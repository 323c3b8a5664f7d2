package strictapi_test

import (
	"testing"

	"github.com/p8-org/p8/internal/testkit/strictapi"
)

// TestJudges: each provider refuses its own things.
func TestJudges(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{}}`: "",
		`{"type":"object","properties":{"moments":{"type":"array","description":"Extracted invoice records"}}}`: "ogG",
		`{"type":"object","properties":{"a":{"type":["array","null"]}}}`:                                        "ogG",
		`{"type":"object","properties":{"a":{"type":"array","items":true}}}`:                                    "ogG",
		`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`:                     "oagG",
		`{"type":"object","properties":{"a":true}}`:                                                             "ogG",
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`:                                                  "oagG",
		`{"type":"object","properties":{},"anyOf":[{"type":"object"}]}`:                                         "oa",
		`{"type":"object","properties":{"a b":{"type":"string"}}}`:                                              "a",
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/no"}}}`:                                            "oagG",
		`{"type":"object","properties":{"a":{"type":"string","required":true}}}`:                                "a",
		`{"type":"object","properties":{"a":{"enum":[true]}}}`:                                                  "gG",
		`{"type":"object","properties":{"a":{"not":{"type":"string"}}}}`:                                        "gG",
		`{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}`:          "G",
		`{"type":"object","properties":{},"required":["a"]}`:                                                    "G",
		`{"type":"object","properties":{"a":{"type":"string","format":"date"}}}`:                                "G",
		`[`: "oagG",
	} {
		got := ""
		for _, j := range []struct {
			letter string
			judge  func([]byte) error
		}{{"o", strictapi.OpenAI}, {"a", strictapi.Anthropic}, {"g", strictapi.Gemini}, {"G", strictapi.GeminiOpenAPI}} {
			if j.judge([]byte(schema)) != nil {
				got += j.letter
			}
		}
		if got != want {
			t.Errorf("%s: refused by %q, not %q", schema, got, want)
		}
	}
}
