package harness

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// PeakMemory is the most memory that the server has had resident, in bytes.
func (s *Server) PeakMemory(t testing.TB) int64 {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", s.p.cmd.Process.Pid))
	if err != nil {
		t.Fatalf("the server's memory: %v", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("the server's memory is not told")
	return 0
}

// confine holds the process to so many bytes where the tests may make a cgroup,
// and reports whether they could.
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
