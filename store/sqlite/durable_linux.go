package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData is an fsync without the times of the file.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
