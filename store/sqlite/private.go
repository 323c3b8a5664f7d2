package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// private makes the database and the files beside it readable by their owner only, whatever
// the umask. Call it before SQLite opens them: SQLite would make the shared memory readable
// by everybody.
func private(path string) error {
	for _, file := range []string{path, path + "-shm"} {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return fmt.Errorf("sqlite: create the database: %w", err)
		}
		if err := f.Close(); err != nil {
			return fmt.Errorf("sqlite: create the database: %w", err)
		}
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
		if err := Tighten(path + end); err != nil {
			return fmt.Errorf("sqlite: keep the database from others: %w", err)
		}
	}
	return nil
}

// Tighten removes the permissions of a file or folder for everybody but its owner. It
// ignores a missing one.
func Tighten(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular() && !info.IsDir(), info.Mode().Perm()&0o077 == 0:
		return nil
	}
	return os.Chmod(path, info.Mode().Perm()&0o700)
}
