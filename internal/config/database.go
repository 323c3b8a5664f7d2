package config

import (
	"net/url"
	"path/filepath"
	"strings"
)

// databaseNone is the value of P8_DATABASE_URL that stores nothing.
const databaseNone = "none"

// Database says where data is stored. One field is set.
type Database struct {
	// None: nothing is stored.
	None bool
	// Path is the file of the embedded database.
	Path string
	// Postgres is the URL of a PostgreSQL database; it may hold a password.
	Postgres string
}

// String describes the database without its password.
func (d Database) String() string {
	switch {
	case d.None:
		return "nothing is stored (P8_DATABASE_URL=none)"
	case d.Postgres != "":
		return maskURL(d.Postgres)
	}
	return d.Path
}

// Database returns the database of P8_DATABASE_URL.
func (c *Config) Database() Database {
	db, _ := parseDatabase(c.DatabaseURL)
	return db
}

// parseDatabase parses none, postgres://…, sqlite:PATH and sqlite://PATH.
func parseDatabase(s string) (Database, bool) {
	if strings.EqualFold(s, databaseNone) {
		return Database{None: true}, true
	}
	if u, err := url.Parse(s); err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") {
		return Database{Postgres: s}, u.Host != "" || u.Query().Get("host") != ""
	}
	path, ok := strings.CutPrefix(s, "sqlite:")
	path = strings.TrimPrefix(path, "//")
	if !ok || path == "" || strings.ContainsAny(path, "?#\x00") {
		return Database{}, false
	}
	return Database{Path: filepath.Clean(path)}, true
}

// complete sets the defaults that depend on the machine, and trims the items of lists.
func (c *Config) complete(goos string) error {
	for _, list := range [][]string{c.FallbackModels, c.MCPAgents, c.AllowedHosts, c.ACMEDomains, c.AllowedOrigins, c.CORSOrigins, c.LoginScopes} {
		for i, s := range list {
			list[i] = strings.TrimSpace(s)
		}
	}
	if c.DataDir == "" {
		dir, ok := userDataDir(goos, c.Getenv)
		// Other databases need no data folder.
		if !ok && c.DatabaseURL == "" {
			return &Error{Name: "P8_DATA_DIR", Problem: "has no default here, as there is no home folder", Mend: "set it to a folder that can be written, or P8_DATABASE_URL=none to store nothing"}
		}
		c.DataDir = dir
	}
	if c.DatabaseURL == "" {
		c.DatabaseURL = "sqlite:" + filepath.Join(c.DataDir, "p8.db")
	}
	for i, e := range c.entries {
		switch e.Name {
		case "P8_DATA_DIR":
			c.entries[i].Value = c.DataDir
		case "P8_DATABASE_URL":
			c.entries[i].Value = c.DatabaseURL
		}
	}
	return nil
}

// userDataDir returns p8's folder in the platform's folder of application data.
func userDataDir(goos string, getenv func(string) string) (string, bool) {
	home := getenv("HOME")
	switch goos {
	case "windows":
		if dir := getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "p8"), true
		}
		home = getenv("USERPROFILE")
		return filepath.Join(home, "AppData", "Local", "p8"), home != ""
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "p8"), home != ""
	}
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "p8"), true
	}
	return filepath.Join(home, ".local", "share", "p8"), home != ""
}
