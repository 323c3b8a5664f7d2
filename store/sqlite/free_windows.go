package sqlite

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeBytes returns the space that this process may still use beside a file.
func freeBytes(path string) (free uint64, err error) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	return free, windows.GetDiskFreeSpaceEx(dir, &free, nil, nil)
}
