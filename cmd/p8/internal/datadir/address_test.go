package datadir

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/p8-org/p8/cmd/p8/internal/command"
)

// The file names the server only while the process that wrote it has the data.
func TestServerAddress(t *testing.T) {
	dir := t.TempDir()
	a := &command.App{Stdout: io.Discard, Stderr: io.Discard, Environ: []string{"P8_DATA_DIR=" + dir}}
	cfg, err := a.Config()
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, "p8.db.lock")
	locked := func(pid int) {
		if err := os.WriteFile(lock, []byte(strconv.Itoa(pid)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if at := Server(cfg); at != "" {
		t.Errorf("nobody serves, and it is at %q", at)
	}
	remove, err := Announce(cfg, "http://127.0.0.1:8000")
	if err != nil {
		t.Fatal(err)
	}
	if at := Server(cfg); at != "" {
		t.Errorf("nobody has the lock, and it is at %q", at)
	}
	locked(os.Getpid())
	if at := Server(cfg); at != "http://127.0.0.1:8000" {
		t.Errorf("it is at %q", at)
	}
	if info, err := os.Stat(filepath.Join(dir, addressFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	locked(os.Getpid() + 1)
	if at := Server(cfg); at != "" {
		t.Errorf("another process has the lock, and it is at %q", at)
	}
	locked(os.Getpid())
	remove()
	if at := Server(cfg); at != "" {
		t.Errorf("it was taken back, and it is at %q", at)
	}
	for _, bad := range []string{"", "example.com", "ftp://example.com", "http://", "http://example.com/?a=b"} {
		if _, err := ServerURL(bad); err == nil {
			t.Errorf("%q passes for an address", bad)
		}
	}
}
