package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Statements without a caller, which no policy binds, are those of p8 itself. A method that
// serves a caller has the caller's scope.
func TestSystemStatements(t *testing.T) {
	allowed := map[string]string{
		"engine.go":              "declares the methods",
		"maintenance.go":         "jobs, recovery and the command line, which serve no caller",
		"access.go":              "authentication, before the caller is known",
		"sealing.go":             "data keys of tenants, which no caller reads",
		"maintenance_encrypt.go": "the command line, which reads rows as they are stored",
		"access_login.go":        "logins with a password, before the caller is known",
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 50 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		uses := strings.Contains(string(text), "ReadSystem(") || strings.Contains(string(text), "WriteSystem(")
		if uses && allowed[file] == "" && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s runs statements for no caller: use Store.read or Store.write, or say here why not", file)
		}
		if !uses && allowed[file] != "" {
			t.Errorf("%s runs no such statements any more", file)
		}
	}
}
