package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try takes the file for this process until it is closed, by whatever
// means the process ends. The locked byte lies beyond the text, which others
// may read.
func Try(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
