package sqlite

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/filelock"
)

// lockFile makes this process the only one to use the database. The file holds
// the process id, for the error of the next one.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sqlite: lock the database: %w", err)
	}
	ok, err := filelock.Try(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("sqlite: lock the database: %w", err)
	}
	if !ok {
		text, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		if pid := strings.TrimSpace(string(text)); pid != "" {
			return nil, fmt.Errorf("%w (%s): stop it, or choose another data folder", ErrInUse, pid)
		}
		return nil, fmt.Errorf("%w: stop it, or choose another data folder", ErrInUse)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("sqlite: lock the database: %w", err)
	}
	return f, nil
}
