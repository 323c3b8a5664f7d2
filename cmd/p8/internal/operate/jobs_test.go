package operate

import (
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/jobs"
)

func TestPrintStats(t *testing.T) {
	var b strings.Builder
	err := printStats(&b, []jobs.KindStats{
		{Kind: "embed", States: map[jobs.State]int{jobs.Completed: 40, jobs.Running: 1}, Attempts: 41, Average: 1530 * time.Microsecond, Longest: 75 * time.Second},
		{Kind: "reminder", States: map[jobs.State]int{jobs.Scheduled: 2, jobs.Retrying: 1, jobs.Pending: 1, jobs.Failed: 3, jobs.Cancelled: 1}, Attempts: 25, Errors: 25, Oldest: 3*time.Hour + 40*time.Millisecond},
	})
	const want = `KIND      WAITING  RUNNING  COMPLETED  FAILED  CANCELLED  ATTEMPTS  ERRORS  AVERAGE  LONGEST  OVERDUE
embed     0        1        40         0       0          41        0       2ms      1m15s    0s
reminder  4        0        0          3       1          25        25      0s       0s       3h0m0s
`
	if got := b.String(); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}
