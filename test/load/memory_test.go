package load_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// held is what the server's process holds in memory, and has held at most, in MB.
func held(t testing.TB, s *harness.Server) (now, most int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string) int {
		_, after, _ := strings.Cut(string(status), name)
		value, _, _ := strings.Cut(strings.TrimSpace(after), " ")
		kb, err := strconv.Atoi(value)
		if err != nil {
			t.Fatalf("%s of the server's process: %v", name, err)
		}
		return kb >> 10
	}
	return field("VmRSS:"), field("VmHWM:")
}
