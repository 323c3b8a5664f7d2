package harness

import (
	"os"
	"testing"
)

// diskEnv names a folder on a disk; scripts/test sets it if it puts temporary files
// into memory.
const diskEnv = "P8_TEST_DISK"

// Disk makes a folder on a real disk, removed when the test ends. Tests about crashes,
// flushes and full disks use it instead of t.TempDir.
func Disk(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(os.Getenv(diskEnv), "p8-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing a test's folder: %v", err)
		}
	})
	return dir
}
