//go:build !linux

package sqlite

import "os"

// syncData returns an fsync.
func syncData(f *os.File) error { return f.Sync() }
