package ingest

import (
	"errors"
	"path"
	"strings"
)

// checkPattern returns an error if a glob is malformed.
func checkPattern(pattern string) error {
	for part := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return errors.New("the pattern " + pattern + " is not a glob: write one such as **/*.md")
		}
	}
	return nil
}

// matches reports whether a path from the root matches a glob. ** matches any number of
// folders, the glob "" everything.
func matches(pattern, file string) bool {
	if pattern == "" {
		return true
	}
	parts, names := strings.Split(pattern, "/"), strings.Split(file, "/")
	// reach[i]: the parts so far match the first i names.
	reach := make([]bool, len(names)+1)
	reach[0] = true
	for _, part := range parts {
		next := make([]bool, len(names)+1)
		for i := range reach {
			switch {
			case part == "**":
				next[i] = reach[i] || i > 0 && next[i-1]
			case i > 0 && reach[i-1]:
				// checkPattern found no error.
				next[i], _ = path.Match(part, names[i-1])
			}
		}
		reach = next
	}
	return reach[len(names)]
}
