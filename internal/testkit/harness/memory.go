package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Memory returns the server's resident memory and its peak, in MB of 1024² bytes.
func (s *Server) Memory(t testing.TB) (now, peak int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		t.Fatalf("read the memory of the server's process: %v", err)
	}
	field := func(name string) int {
		_, after, _ := strings.Cut(string(status), name+":")
		value, _, _ := strings.Cut(strings.TrimSpace(after), " ")
		kilobytes, err := strconv.Atoi(value)
		if err != nil {
			t.Fatalf("%s of the server's process: %v", name, err)
		}
		return kilobytes >> 10
	}
	return field("VmRSS"), field("VmHWM")
}

// confine limits the process to so many bytes, and reports whether the tests could make
// a cgroup for it.
func confine(t testing.TB, pid int, bytes int64) bool {
	t.Helper()
	for file, root := range map[string]string{"memory.limit_in_bytes": "/sys/fs/cgroup/memory", "memory.max": "/sys/fs/cgroup"} {
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
			continue
		}
		dir, err := os.MkdirTemp(root, "p8-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) }) // the process has left it by then
		if os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(bytes, 10)), 0o600) == nil &&
			os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600) == nil {
			return true
		}
	}
	return false
}
