package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A secret may be in a file, which container platforms mount.
func TestSecretFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := write("key", "q7Zr0Lw2Xv9Tn4Bc\r\n")
	for _, tt := range []struct {
		name, dotenv string
		environ      []string
		value        string
		origin       string
		fails        string
	}{
		{name: "environment", environ: []string{"P8_OPENAI_API_KEY_FILE=" + key}, value: "q7Zr0Lw2Xv9Tn4Bc", origin: "environment P8_OPENAI_API_KEY_FILE"},
		{name: ".env", dotenv: "P8_OPENAI_API_KEY_FILE=" + key, value: "q7Zr0Lw2Xv9Tn4Bc", origin: ".env P8_OPENAI_API_KEY_FILE"},
		{name: "the environment counts before .env", dotenv: "P8_OPENAI_API_KEY=other", environ: []string{"P8_OPENAI_API_KEY_FILE=" + key}, value: "q7Zr0Lw2Xv9Tn4Bc", origin: "environment P8_OPENAI_API_KEY_FILE"},
		{name: "empty is unset", environ: []string{"P8_OPENAI_API_KEY_FILE="}, origin: "default"},
		{name: "both", environ: []string{"P8_OPENAI_API_KEY_FILE=" + key, "P8_OPENAI_API_KEY=k"}, fails: "P8_OPENAI_API_KEY_FILE is set beside P8_OPENAI_API_KEY: set one of the two"},
		{name: "missing", environ: []string{"P8_OPENAI_API_KEY_FILE=nowhere"}, fails: `P8_OPENAI_API_KEY_FILE: "nowhere" is no file with a value`},
		{name: "a folder", environ: []string{"P8_OPENAI_API_KEY_FILE=" + dir}, fails: "is no file with a value"},
		{name: "an empty file", environ: []string{"P8_OPENAI_API_KEY_FILE=" + write("empty", "\n")}, fails: "is no file with a value"},
		{name: "not text", environ: []string{"P8_OPENAI_API_KEY_FILE=" + write("zero", "a\x00b")}, fails: "is no file with a value"},
		{name: "a value that cannot be used", environ: []string{"P8_API_KEY_FILE=" + write("short", "k3")}, fails: "P8_API_KEY_FILE is too short to be safe"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := load(t, tt.dotenv, nil, tt.environ...)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("got %v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if e := entry(t, c, "P8_OPENAI_API_KEY"); c.OpenAIKey != tt.value || e.Origin != tt.origin || e.Value != "" && e.Value != mask {
				t.Errorf("got %q, %+v", c.OpenAIKey, e)
			}
			if tt.value != "" && (c.ProviderEnv("OPENAI_API_KEY") != tt.value || c.ProviderEnv("P8_OPENAI_API_KEY") != tt.value) {
				t.Error("the provider's client does not find the key")
			}
			if len(c.Unknown()) != 0 {
				t.Errorf("unknown: %v", c.Unknown())
			}
		})
	}
	if c, err := load(t, "", nil, "P8_DATABASE_URL_FILE="+write("url", "postgres://p8:pw@db.example.com/p8")); err != nil || c.Database().Postgres == "" {
		t.Errorf("the address of a database in a file: %v", err)
	}
	if c, _ := load(t, "", nil, "P8_PORT_FILE="+key); c == nil || len(c.Unknown()) != 1 {
		t.Error("P8_PORT_FILE is taken")
	}
}

func TestGuessable(t *testing.T) {
	for _, s := range []string{"changeme-changeme", "change-me-in-production!", "my-super-secret-key-for-jwt-token", "0000000000000000", "abcabcabcabcabcabc",
		"your-256-bit-secret", "p8-dev-secret-key", "REPLACE_THIS_WITH_A_LONG_RANDOM_STRING", "passwordpassword", "test-key-test-key-test"} {
		if !isGuessable(s) {
			t.Errorf("%q counts as safe", s)
		}
	}
	for _, s := range []string{"", "q7Zr0Lw2Xv9Tn4Bc", "9f86d081884c7d659a2feaa0c55ad015", "correct horse battery staple", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"} {
		if isGuessable(s) {
			t.Errorf("%q counts as guessable", s)
		}
	}
	for _, name := range []string{"P8_API_KEY", "P8_AUTH_JWT_SECRET", "P8_SECRET_KEY"} {
		if _, err := load(t, "", nil, name+"=changeme-changeme-changeme-changeme"); err == nil || !strings.Contains(err.Error(), name+" can be guessed: give a random ") && name != "P8_SECRET_KEY" || err != nil && strings.Contains(err.Error(), "changeme") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Settings of TLS that do not go together are refused, and names that no authority certifies.
func TestTLSSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	const domains = "P8_TLS_ACME_DOMAINS=agents.example.com"
	for _, tt := range []struct {
		environ []string
		fails   string
	}{
		{[]string{domains + ", bücher.example.com", "P8_TLS_ACME_EMAIL=ops@example.com", "P8_TLS_ACME_URL=http://127.0.0.1:14000/dir", "P8_TLS_CLIENT_CA=" + file}, ""},
		{[]string{domains, "P8_TLS_CERT=" + file, "P8_TLS_KEY=" + file}, "P8_TLS_ACME_DOMAINS is set beside P8_TLS_CERT: set one of the two"},
		{[]string{"P8_TLS_ACME_EMAIL=ops@example.com"}, "P8_TLS_ACME_EMAIL is set without P8_TLS_ACME_DOMAINS"},
		{[]string{"P8_TLS_ACME_URL=https://ca.example.com/dir"}, "P8_TLS_ACME_URL is set without P8_TLS_ACME_DOMAINS"},
		{[]string{domains, "P8_TLS_ACME_EMAIL=ops"}, "P8_TLS_ACME_EMAIL"},
		{[]string{domains, "P8_TLS_ACME_URL=http://ca.example.com/dir"}, "is not safe"},
		{[]string{domains, "P8_TLS_CLIENT_CA=nowhere"}, "is not a file"},
		{[]string{"P8_TLS_CLIENT_CA=" + file}, "P8_TLS_CLIENT_CA needs TLS"},
		{[]string{"P8_TLS_ACME_DOMAINS=*.example.com"}, "no authority"},
		{[]string{"P8_TLS_ACME_DOMAINS=localhost"}, "no authority"},
		{[]string{"P8_TLS_ACME_DOMAINS=203.0.113.7"}, "no authority"},
		{[]string{"P8_TLS_ACME_DOMAINS=https://agents.example.com"}, "no authority"},
		{[]string{"P8_TLS_ACME_DOMAINS=agents.example.com:443"}, "no authority"},
		{[]string{"P8_TLS_ACME_DOMAINS=agents.example.com,,b.example.com"}, "no authority"},
		{[]string{"P8_TLS_ACME_DOMAINS=../agents.example.com"}, "no authority"},
	} {
		_, err := load(t, "", nil, tt.environ...)
		if tt.fails == "" && err != nil || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
			t.Errorf("%v: %v, want %q", tt.environ, err, tt.fails)
		}
	}
}

// Keys of P8_SECRET_KEY are separated by commas, each as safe as one.
func TestSecretKeys(t *testing.T) {
	const one, two = "q7Zr0Lw2Xv9Tn4Bc", "9f86d081884c7d65"
	for value, problem := range map[string]string{
		one: "", one + "," + two: "", one + ", " + two: "",
		one + ",": "less than 16", "," + one: "less than 16", one + ",," + two: "less than 16", ",": "less than 16",
		"correct horse, battery staple": "less than 16", one + ",changeme-changeme-": "can be guessed",
	} {
		_, err := load(t, "", nil, "P8_SECRET_KEY="+value)
		if (err == nil) != (problem == "") || err != nil && (!strings.Contains(err.Error(), problem) || strings.Contains(err.Error(), one)) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestWeaknesses(t *testing.T) {
	const key, quota = "P8_API_KEY=q7Zr0Lw2Xv9Tn4Bc", "P8_QUOTA_USER=requests=60"
	for _, tt := range []struct {
		name    string
		environ []string
		want    string // the names of the settings
	}{
		{"defaults", nil, ""},
		{"a public server without TLS", []string{key, quota}, "P8_PUBLIC_URL"},
		{"no limit", []string{key, "P8_PUBLIC_URL=https://a.example"}, "P8_QUOTA_USER"},
		{"anybody", []string{key, quota, "P8_PUBLIC_URL=https://a.example", "P8_AUTH_ANONYMOUS=true"}, "P8_QUOTA_ADDRESS"},
		{"anybody, bounded", []string{key, quota, "P8_PUBLIC_URL=https://a.example", "P8_AUTH_ANONYMOUS=true", "P8_QUOTA_ADDRESS=requests=60"}, ""},
		{"behind a proxy", []string{key, quota, "P8_PUBLIC_URL=https://agents.example.com"}, ""},
		{"every token is an admin's", []string{"P8_AUTH_DEFAULT_ROLE=admin"}, "P8_AUTH_DEFAULT_ROLE"},
		{"a secret without audience", []string{"P8_AUTH_JWT_SECRET=9f86d081884c7d659a2feaa0c55ad015", quota, "P8_PUBLIC_URL=https://a.example"}, "P8_AUTH_AUDIENCE"},
		{"a database over the network", []string{"P8_DATABASE_URL=postgres://db.example.com/p8", "P8_SECRET_KEY=q7Zr0Lw2Xv9Tn4Bc"}, "P8_DATABASE_URL"},
		{"TLS by an authority", []string{key, quota, "P8_TLS_ACME_DOMAINS=agents.example.com"}, ""},
		{"a database here", []string{"P8_DATABASE_URL=postgres://localhost/p8", "P8_SECRET_KEY=q7Zr0Lw2Xv9Tn4Bc"}, ""},
		{"a database with TLS", []string{"P8_DATABASE_URL=postgres://db.example.com/p8?sslmode=verify-full"}, "P8_SECRET_KEY"},
		{"any page", []string{"P8_CORS_ORIGINS=*"}, "P8_CORS_ORIGINS"},
		{"any identity", []string{key, quota, "P8_TRUST_IDENTITY_HEADERS=true", "P8_PUBLIC_URL=https://a.example"}, "P8_TRUST_IDENTITY_HEADERS"},
		{"webhooks", []string{"P8_REMINDER_WEBHOOK_URL=http://hooks.example.com", "P8_A2A_PRIVATE_WEBHOOKS=true"}, "P8_A2A_PRIVATE_WEBHOOKS P8_REMINDER_WEBHOOK_SECRET P8_REMINDER_WEBHOOK_URL"},
		{"a model over the network", []string{"OPENAI_BASE_URL=http://10.0.0.7:8080/v1"}, "P8_OPENAI_BASE_URL"},
		{"a model here", []string{"OPENAI_BASE_URL=http://127.0.0.1:8080/v1"}, ""},
		{"debug", []string{"P8_LOG_LEVEL=debug"}, "P8_LOG_LEVEL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := load(t, "", nil, tt.environ...)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, w := range c.Weaknesses() {
				names = append(names, w.Name)
				if w.Problem == "" || w.Mend == "" {
					t.Errorf("%+v", w)
				}
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
