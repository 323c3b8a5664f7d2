// Package datadir has the files that p8 keeps in the data folder beside the
// database: the address of the server that has the database, the histories of
// typed lines, and the key of the secrets in the database.
package datadir

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/filelock"
)

// addressFile holds the address of the server that has the embedded database beside it.
const addressFile = "p8.url"

// address is the content of the file.
type address struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// Announce writes the address of this server into the data folder, for commands that
// need the database while the server has it. remove deletes the file. Without an
// embedded database, Announce does nothing.
func Announce(cfg *config.Config, base string) (remove func(), err error) {
	db := cfg.Database()
	if db.Path == "" {
		return func() {}, nil
	}
	raw, err := json.Marshal(address{base, os.Getpid()})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(filepath.Dir(db.Path), addressFile)
	next := path + ".new"
	if err := os.WriteFile(next, append(raw, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("say where the server is reached: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		_ = os.Remove(next)
		return nil, fmt.Errorf("say where the server is reached: %w", err)
	}
	return func() { _ = os.Remove(path) }, nil
}

// Server returns the address of the server that has the data folder. It is "" without
// an address file, or if a process other than the owner of the lock wrote the file.
func Server(cfg *config.Config) string {
	path := cfg.Database().Path
	if path == "" {
		return ""
	}
	var a address
	if json.Unmarshal(readSmall(filepath.Join(filepath.Dir(path), addressFile)), &a) != nil {
		return ""
	}
	if owner, err := strconv.Atoi(strings.TrimSpace(string(readSmall(path + ".lock")))); err != nil || owner != a.PID {
		return ""
	}
	if _, err := ServerURL(a.URL); err != nil {
		return ""
	}
	return a.URL
}

// Held reports whether a process has the data folder now. The files of one that was killed
// stay, and another program may listen at its address.
func Held(cfg *config.Config) bool {
	f, err := os.OpenFile(cfg.Database().Path+".lock", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := filelock.Try(f)
	return err == nil && !free
}

// readSmall returns the beginning of a file, nil if it cannot be read.
func readSmall(path string) []byte {
	const most = 4 << 10
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return b
}

// ServerURL parses the address of a server, of which each has one form.
func ServerURL(text string) (*url.URL, error) {
	at, err := url.Parse(strings.TrimRight(text, "/"))
	if err == nil {
		at.Host = strings.ToLower(at.Host)
		if port := at.Port(); port == "80" && at.Scheme == "http" || port == "443" && at.Scheme == "https" {
			at.Host = strings.TrimSuffix(at.Host, ":"+port)
		}
	}
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" {
		return nil, command.Usage("%q is not the address of a server: give one such as http://127.0.0.1:8000", show.OneLine(text))
	}
	return at, nil
}
