package account

import (
	"os"
	"strings"
	"testing"
)

func TestActionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range Actions() {
		if !strings.Contains(string(page), "`"+action+"`") {
			t.Errorf("docs/keys.md does not have %s", action)
		}
	}
}
