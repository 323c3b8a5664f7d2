package outbound

import (
	"strings"
	"testing"
)

// TestWords: an operator reads the provider's words, without keys.
func TestWords(t *testing.T) {
	for _, tc := range []struct{ body, want string }{
		{`{"error":{"message":"Unsupported value: 'temperature' does not support 0.2.","type":"invalid_request_error","code":"unsupported_value","param":"temperature"}}`,
			"Unsupported value: 'temperature' does not support 0.2. (invalid_request_error) (unsupported_value)"},
		{`{"error":{"message":"Incorrect API key provided: sk-proj-****wxyz. You can find it at https://example.com."}}`,
			"Incorrect API key provided: [removed] You can find it at https://example.com."},
		{`{"error":"my-own-secret-1 is not known"}`, "[removed] is not known"},
		{`{"detail":[{"msg":"bad\u001b[2J\nvalue"}]}`, `[{"msg":"bad\u001b[2J\nvalue"}]`},
		{`{"error":"Bearer abc.def is bad, api_key=12345, see https://u:p@host/x, AIzaSyA-123456"}`,
			"[removed] is bad, [removed], see https://[removed]@host/x, [removed]"},
		{"<html>\x1b[31m Bad\n Gateway", "<html> [31m Bad Gateway"},
		{`{"error":"` + strings.Repeat("é", 2000) + `"}`, strings.Repeat("é", 500) + "…"},
		{`{}`, ""}, {`{"error":{"code":500}}`, ""}, {"", ""},
	} {
		if got := ReadRefusal([]byte(tc.body)).Words("my-own-secret-1", "", "x"); got != tc.want {
			t.Errorf("%.60s: %q, want %q", tc.body, got, tc.want)
		}
	}
}
