package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/logins"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/store/sqlite"
)

// The histories of typed lines, and the key of the secrets in the database.
const (
	ChatHistory  = "chat_history"
	QueryHistory = "query_history"
	KeyFile      = "secret.key"
)

// Tighten makes the data folder and p8's files in it accessible to their owner only. A
// folder that holds other files too keeps its permissions: its owner may share it on
// purpose.
func Tighten(cfg *config.Config) error {
	path := cfg.Database().Path
	if path == "" || cfg.DataDir == "" || filepath.Dir(path) != filepath.Clean(cfg.DataDir) {
		return nil
	}
	entries, err := os.ReadDir(cfg.DataDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	own := []string{addressFile, ChatHistory, QueryHistory, KeyFile, logins.FolderMCP, logins.FolderP8}
	shared := false
	var errs []error
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".new")
		if !slices.Contains(own, name) && !strings.HasPrefix(name, filepath.Base(path)) {
			shared = true
			continue
		}
		errs = append(errs, sqlite.Tighten(filepath.Join(cfg.DataDir, e.Name())))
	}
	if !shared {
		errs = append(errs, sqlite.Tighten(cfg.DataDir))
	}
	return errors.Join(errs...)
}
