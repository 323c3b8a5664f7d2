//go:build unix

package sqlite

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// freeBytes returns the space that this process may still use beside a file.
func freeBytes(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}
