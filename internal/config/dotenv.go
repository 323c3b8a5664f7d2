package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/joho/godotenv"
)

// readDotEnv reads a .env file. It returns nil if the file does not exist.
func readDotEnv(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Name: path, Problem: "cannot be read", Mend: "make it a file that you may read, or remove it"}
	}
	vars, err := godotenv.UnmarshalBytes(text)
	if err != nil {
		// The parser's own error quotes the file, secrets included.
		return nil, &Error{Name: path, Problem: "is not a list of NAME=value lines" + badLine(string(text)), Mend: "mend the line, or remove the file"}
	}
	return vars, nil
}

// badLine returns the line at which the file cannot be parsed: the end of the shortest
// beginning that does not parse, unless more lines complete it (a quoted value).
func badLine(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > 1000 {
		return "" // the search would take too long
	}
	for n := len(lines) - 1; n >= 0; n-- {
		if _, err := godotenv.Unmarshal(strings.Join(lines[:n], "")); err == nil {
			return fmt.Sprintf(" (line %d)", n+1)
		}
	}
	return ""
}
