package config

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// inFile ends the name of a variable that has the path of a file with the value, as
// container platforms mount secrets: P8_API_KEY_FILE for P8_API_KEY.
const inFile = "_FILE"

// maxSecretFile is the most that is read of such a file, in bytes.
const maxSecretFile = 64 << 10

// mayBeInFile reports whether the value may come from a file: a secret, or an address with
// a password.
func (f field) mayBeInFile() bool { return f.secret || f.env == "P8_DATABASE_URL" }

// readSecrets replaces, in one source, the paths of files by what the files hold, without
// the line break at the end, and returns the paths.
func readSecrets(fields []field, vars map[string]string) (paths []string, err error) {
	for _, f := range fields {
		name := f.env + inFile
		path := vars[name]
		if path == "" || !f.mayBeInFile() {
			continue
		}
		if vars[f.env] != "" {
			return nil, &Error{Name: name, Problem: "is set beside " + f.env, Mend: "set one of the two"}
		}
		text, err := readSecret(path)
		if err != nil || strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0) {
			return nil, &Error{Name: name, Value: path, Problem: "is no file with a value", Mend: "give a text file that p8 may read, with " + f.want}
		}
		vars[name] = text
		paths = append(paths, path)
	}
	return paths, nil
}

// SecretFiles returns the paths of the files with secrets that the settings name.
func (c *Config) SecretFiles() []string { return slices.Clone(c.secretFiles) }

func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if len(raw) > maxSecretFile {
		return "", errors.New("the file is too large for a secret")
	}
	return strings.TrimRight(string(raw), "\r\n"), err
}

// placeholders are the words of secrets that were copied from an example.
var placeholders = []string{
	"changeme", "change", "replace", "example", "insert", "placeholder", "password", "passwd", "secret", "default", "sample",
	"please", "random", "production", "prod", "string", "value", "token", "admin", "super", "your", "this", "that", "with", "here", "test", "demo", "must",
	"long", "very", "some", "real", "key", "jwt", "api", "dev", "the", "for", "and", "not", "use", "one", "me", "my", "to", "in", "is", "it", "of", "or", "p8", "a",
}

// minSecretRest is how many characters a secret must have besides such words.
const minSecretRest = 8

// isGuessable reports whether a secret is a placeholder, or has so few different characters
// that it was typed rather than drawn.
func isGuessable(s string) bool {
	if s == "" {
		return false
	}
	rest := strings.ToLower(s)
	for _, word := range placeholders {
		rest = strings.ReplaceAll(rest, word, "")
	}
	different := []rune(rest)
	slices.Sort(different)
	return len(rest) < minSecretRest || len(slices.Compact(different)) < minSecretRest-2
}
