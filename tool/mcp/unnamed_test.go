package mcp

import (
	"slices"
	"strings"
	"testing"
)

func TestCommandLines(t *testing.T) {
	for line, want := range map[string][]string{
		"npx -y  server ":           {"npx", "-y", "server"},
		`run "a b" 'c "d"' e\ f ""`: {"run", "a b", `c "d"`, "e f", ""},
		`C:\bin\server.exe "x\"y"`:  {`C:\bin\server.exe`, `x"y`},
		"a\tb\nc":                   {"a", "b", "c"},
		`a \`:                       {"a", `\`},
	} {
		if got, err := words(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	for line, want := range map[string]string{"": "empty", `""`: "empty", "a 'b": "does not end", "https://": "a host"} {
		if _, err := unnamed(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestServerWithoutAName(t *testing.T) {
	servers := open(t, Options{})
	s, err := servers.Open(newFixture().overHTTP(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	if got := says(t, s, "echo", `{"text":"hello"}`); got != "hello" {
		t.Error(got)
	}
	if err := servers.Close(); err != nil {
		t.Error(err)
	}
	if _, err := servers.Open("server"); err == nil {
		t.Error("a server was opened after Close")
	}
	if _, err := s.Tools(t.Context()); err == nil {
		t.Error("a server was used after Close")
	}
}
