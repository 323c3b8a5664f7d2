package store

import (
	"testing"
	"unicode/utf8"
)

func TestEntityID(t *testing.T) {
	for _, c := range []struct{ table, key, user, want string }{
		{"users", "user@example.com", "", "e76db623-9067-5688-9d24-e05bff36b694"},
	} {
		if got := EntityID(c.table, c.key, c.user); got != c.want {
			t.Errorf("EntityID(%q, %q, %q) = %s, want %s", c.table, c.key, c.user, got, c.want)
		}
	}
	if EntityID("a", "b", "u") == EntityID("a", "b", "v") {
		t.Error("the user is not part of the id")
	}
}

func TestNormalizeKey(t *testing.T) {
	for name, want := range map[string]string{
		"Sarah Chen":          "sarah-chen",
		"  Sarah \t Chen  ":   "sarah-chen",
		"sarah_chen":          "sarah-chen",
		"Sarah__Chen--":       "sarah-chen",
		"-a-":                 "a",
		"q4_report.v2":        "q4-report-v2", // p8: q4-reportv2
		"a/b:c":               "a-b-c",        // p8: abc
		"Café Ü":              "café-ü",       // p8: caf-
		"CAFE\u0301":          "café",
		"日本語 文書":              "日本語-文書", // p8: ""
		"हिन्दी भाषा":         "हिन्दी-भाषा",
		"user@example.com":    "user-example-com",
		"Sarah's “notes”":     "sarahs-notes",
		"don’t":               "dont",
		"¾ cup":               "¾-cup",
		"🙂":                   "",
		"\u0301a":             "a",
		"":                    "",
		"rem.agents.query":    "rem-agents-query",
		"docs/guide/intro.md": "docs-guide-intro-md",
		"file:///tmp/x y.pdf": "file-tmp-x-y-pdf",
		"session-1-msg-2":     "session-1-msg-2",
		"x\x00y\xffz":         "x-y-z",
		"İstanbul":            "istanbul",
		"ΣΑΣ":                 "σασ",
	} {
		if got := NormalizeKey(name); got != want {
			t.Errorf("NormalizeKey(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzNormalizeKey(f *testing.F) {
	for _, s := range []string{"Sarah Chen", "a/b:c", "e\u0301", "\u0301 \u0301x", "İ", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		key := NormalizeKey(name)
		if again := NormalizeKey(key); again != key {
			t.Errorf("the key %q of %q has another key, %q", key, name, again)
		}
		if !utf8.ValidString(key) {
			t.Errorf("the key %q of %q is not UTF-8", key, name)
		}
		if key != "" && (key[0] == '-' || key[len(key)-1] == '-') {
			t.Errorf("the key %q of %q begins or ends with a dash", key, name)
		}
	})
}
