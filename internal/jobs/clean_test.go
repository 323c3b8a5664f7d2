package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain", "plain"},
		{"two\nlines\tand \x00 more  ", "two lines and more"},
		{"dial postgres://ada:hunter2@db/x", "dial postgres://ada:********@db/x"},
		{"Authorization: Bearer abc.def", "Authorization: Bearer ********"},
		{"password=hunter2 host=db", "password=******** host=db"},
		{`{"api_key": "hunter2", "a": 1}`, `{"api_key": "********", "a": 1}`},
		{"key sk-proj-1234 refused", "key sk-******** refused"},
		{"a token is missing", "a token is missing"},
		{strings.Repeat("é", 400), strings.Repeat("é", 250) + "…"},
		{"x" + strings.Repeat("é", 400), "x" + strings.Repeat("é", 249) + "…"},
	}
	for _, test := range tests {
		if got := clean(test.in); got != test.want {
			t.Errorf("clean(%q)\n got %q\nwant %q", test.in, got, test.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("postgres://a:b@c")
	f.Fuzz(func(t *testing.T, text string) {
		got := clean(text)
		if len(got) > maxError+len("…") || !utf8.ValidString(got) && utf8.ValidString(text) ||
			strings.ContainsFunc(got, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) && r != utf8.RuneError }) {
			t.Errorf("%q", got)
		}
	})
}

func FuzzParseCron(f *testing.F) {
	for _, s := range []string{"0 6 * * 1-5", "@daily", "CRON_TZ=Europe/Vienna 0 6 * * *", "*/0 * * * *", "TZ="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if s, err := ParseCron(expression); err == nil && s == nil {
			t.Error("neither a schedule nor an error")
		}
	})
}

// River's own errors are logged; those of jobs that Close cancels are not.
func TestQuiet(t *testing.T) {
	var out strings.Builder
	log := quiet(slog.New(slog.NewTextHandler(&out, nil)))
	log.Info("working")
	log.Error("insert", "error", fmt.Errorf("insert: %w", context.Canceled))
	log.Error("fetch: context canceled")
	log.Error("fetch", "error", "no connection")
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "no connection") {
		t.Errorf("%s", got)
	}
}
