package knowledge

import (
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/ingest"
)

func TestBar(t *testing.T) {
	var out strings.Builder
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := &bar{out: &out, now: func() time.Time { return now }}
	for _, step := range []struct {
		after time.Duration
		done  int
		want  string
	}{
		{0, 0, "files   0% |" + strings.Repeat(" ", 40) + "| (0/3) [0s:0s]"},
		{30 * time.Second, 1, "files  33% |" + strings.Repeat("█", 13) + strings.Repeat(" ", 27) + "| (1/3) [30s:1m0s]"},
		{99 * time.Millisecond, 2, ""},
		{10 * time.Second, 3, "files 100% |" + strings.Repeat("█", 40) + "| (3/3) [40s:0s]"},
	} {
		now = now.Add(step.after)
		out.Reset()
		b.show(ingest.Progress{Files: 3, Done: step.done})
		if got := strings.TrimPrefix(out.String(), "\r\x1b[K"); got != step.want {
			t.Errorf("%d done: %q, want %q", step.done, got, step.want)
		}
	}
	out.Reset()
	b.close()
	if got := out.String(); got != "\r\x1b[K" {
		t.Errorf("closed: %q", got)
	}
}

// TestNoBar: nothing is written without a terminal, and without files.
func TestNoBar(t *testing.T) {
	none := &bar{}
	none.show(ingest.Progress{Files: 3, Done: 1})
	none.close()
	var out strings.Builder
	b := &bar{out: &out, now: time.Now}
	b.show(ingest.Progress{})
	b.close()
	if out.Len() > 0 {
		t.Errorf("no files: %q", out.String())
	}
}
