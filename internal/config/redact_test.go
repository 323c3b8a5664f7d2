package config_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/config"
)

func TestRedactor(t *testing.T) {
	c, err := config.Load(config.Options{Environ: []string{
		"P8_DATA_DIR=" + t.TempDir(),
		"P8_REDACT=email,p8", `P8_REDACT_PATTERNS=ticket=T-[0-9]+ pin=pin:\x20([0-9]{4})`, "P8_REDACT_SCOPE=model,logs", "P8_API_KEY=f83nv02mdkw93jvh27sk",
	}})
	if err != nil {
		t.Fatal(err)
	}
	const text = "T-1 by sarah@example.com, pin: 1234, f83nv02mdkw93jvh27sk"
	if got, want := c.Redactor(config.RedactLogs).Text(text), "[ticket] by [email], pin: [pin], [p8]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := c.Redactor(config.RedactTraces).Text(text); got != text {
		t.Errorf("out of the scope: %q", got)
	}
	if c, err = config.Load(config.Options{Environ: []string{"P8_DATA_DIR=" + t.TempDir()}}); err != nil || c.Redactor(config.RedactModel) != nil {
		t.Error("something is redacted without a setting", err)
	}
}

func TestRedactMistakes(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"P8_REDACT=e-mail", `P8_REDACT: "e-mail" cannot be used: there is no pattern "e-mail": give all, personal, secrets,`},
		{"P8_REDACT_PATTERNS=ticket=(", `P8_REDACT_PATTERNS: "ticket=(" cannot be used: the expression of the pattern "ticket" is not one of RE2: missing closing )`},
		{"P8_REDACT_PATTERNS=email=x", `"email" is the name of a built-in pattern`},
		{"P8_REDACT_SCOPE=models", "P8_REDACT_SCOPE"},
	} {
		if _, err := config.Load(config.Options{Environ: []string{"P8_DATA_DIR=" + t.TempDir(), c.set}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.set, err, c.want)
		}
	}
}

// TestSpansHaveNoSecrets: whatever P8_REDACT and its scope say.
func TestSpansHaveNoSecrets(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{nil, "[email] +1 555 010 9999 [p8]"},
		{[]string{"P8_REDACT=phone", "P8_REDACT_SCOPE=model"}, "[email] +1 555 010 9999 [p8]"},
		{[]string{"P8_REDACT=phone"}, "[email] [phone] [p8]"},
	} {
		c, err := config.Load(config.Options{Environ: append(tt.environ, "HOME=/home/alice", "P8_API_KEY=f83nv02mdkw93jvh27sk")})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.SpanRedactor().Text("sarah@example.com +1 555 010 9999 f83nv02mdkw93jvh27sk"); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.environ, got, tt.want)
		}
		// Texts of spans are JSON: gen_ai.input.messages.
		if got, want := c.SpanRedactor().Text(`[{"content":"x\nsarah@example.com\nf83nv02mdkw93jvh27sk"}]`), `[{"content":"x\n[email]\n[p8]"}]`; got != want {
			t.Errorf("%q: got %s, want %s", tt.environ, got, want)
		}
	}
}
