package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// A caller of wait gets the result of an fsync that began after the call.
func TestDurable(t *testing.T) {
	path := filepath.Join(harness.Disk(t), "p8.db-wal")
	d := durable{path: path}
	if err := d.wait(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	// While an fsync runs, all who come share the next one.
	d.syncing.Lock()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := d.wait(); err != nil {
				t.Error(err)
			}
		})
	}
	d.syncing.Unlock()
	all.Wait()
	if d.next != nil {
		t.Error("a flush is left")
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := d.wait(); err != nil {
		t.Errorf("after the end: %v", err)
	}
}
