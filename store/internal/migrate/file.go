package migrate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// file is a migration: several statements, which both drivers run as one text.
type file struct {
	name    string
	version int64
	text    string
	hash    string
}

// readFiles returns the migrations in order.
func readFiles(fsys fs.FS) ([]file, error) {
	names, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return nil, err
	}
	files := make([]file, 0, len(names))
	for _, name := range names {
		version, err := versionOf(name)
		if err != nil {
			return nil, err
		}
		if version <= newest(files) {
			return nil, fmt.Errorf("%s: its number is not greater than the one of the file before", name)
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		files = append(files, file{name: name, version: version, text: string(text), hash: hex.EncodeToString(sum[:])})
	}
	return files, nil
}

// newest returns the version that a database has after all files, which are in order.
func newest(files []file) int64 {
	if len(files) == 0 {
		return 0
	}
	return files[len(files)-1].version
}

// versionOf returns the number at the beginning of a file's name: 12 of 00012_parts.sql.
func versionOf(name string) (int64, error) {
	number, _, _ := strings.Cut(name, "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil || version < 1 {
		return 0, fmt.Errorf("%s: its name does not begin with a number and _", name)
	}
	return version, nil
}
