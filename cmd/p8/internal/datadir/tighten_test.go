package datadir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/p8-org/p8/internal/config"
)

// A data folder of its own becomes private; one with other files only in part.
func TestTightenDataDir(t *testing.T) {
	for name, c := range map[string]struct {
		other string
		want  map[string]os.FileMode
	}{
		"p8's own":  {"", map[string]os.FileMode{".": 0o700, "p8.db": 0o600, "p8.db-shm": 0o600, "chat_history": 0o600, addressFile: 0o600}},
		"not alone": {"thesis.tex", map[string]os.FileMode{".": 0o755, "p8.db": 0o600, "chat_history": 0o600, "thesis.tex": 0o644}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"p8.db", "p8.db-shm", "chat_history", addressFile, c.other} {
				if file == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, file), nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(filepath.Join(dir, file), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cfg, err := config.Load(config.Options{Environ: []string{"P8_DATA_DIR=" + dir}})
			if err != nil {
				t.Fatal(err)
			}
			if err := Tighten(cfg); err != nil {
				t.Fatal(err)
			}
			for file, want := range c.want {
				info, err := os.Stat(filepath.Join(dir, file))
				if err != nil || info.Mode().Perm() != want {
					t.Errorf("%s: %v %v, want %o", file, info.Mode().Perm(), err, want)
				}
			}
		})
	}
}
