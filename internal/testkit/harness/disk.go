package harness

import (
	"os"
	"testing"
)

// diskEnv names the folder for temporary files on a disk, which scripts/test sets
// where it puts all others into memory.
const diskEnv = "P8_TEST_DISK"

// Disk makes a folder on a real disk, removed when the test ends. Tests about what
// survives a crash, a flush or a full disk use it instead of t.TempDir.
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
