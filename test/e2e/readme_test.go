package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/docs"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// command is a line of a code block that runs p8.
var command = regexp.MustCompile(`(?m)^(?:\$ )?(?:[A-Z0-9_]+=\S+ )*(?:go run \./cmd/p8|p8) (\S.*)$`)

// TestDocumentedCommandsExist asks p8 itself for every command and flag that the
// README and the user documentation show.
func TestDocumentedCommandsExist(t *testing.T) {
	help := map[string]string{}
	pages, err := filepath.Glob(filepath.Join(harness.Root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range append(pages, filepath.Join(harness.Root(t), "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range codeBlocks(string(text)) {
			for _, m := range command.FindAllStringSubmatch(block, -1) {
				n++
				checkCommand(t, filepath.Base(page), m[1], help)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d commands were found: the test looks for the wrong thing", n)
	}
}

// codeBlocks are the fenced blocks of a Markdown text.
func codeBlocks(text string) []string {
	var blocks []string
	for i, part := range strings.Split(text, "\n```") {
		if i%2 == 1 {
			_, body, _ := strings.Cut(part, "\n")
			blocks = append(blocks, body)
		}
	}
	return blocks
}

func checkCommand(t *testing.T, page, line string, help map[string]string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(line, "QUOTED"))
	verbs := words[:1]
	if len(words) > 1 && slices.Contains([]string{"schema", "sessions", "moments", "reminders", "tools", "keys", "users", "me", "quota", "retention", "secrets", "feedback", "eval", "experiments"}, words[0]) && !strings.HasPrefix(words[1], "-") {
		verbs = words[:2]
	}
	if len(words) > 2 && words[1] == "dataset" {
		verbs = words[:3]
	}
	name := strings.Join(verbs, " ")
	if verbs[0] == "COMMAND" {
		return
	}
	if _, ok := help[name]; !ok {
		code, stdout, stderr := harness.Run(t, nil, append(verbs[:len(verbs):len(verbs)], "--help")...)
		if code != 0 {
			t.Errorf("%s shows `p8 %s`, which does not exist: %s", page, name, stderr)
		}
		help[name] = stdout
	}
	for _, word := range words[len(verbs):] {
		flag, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(flag, "-") && len(flag) > 1 && !strings.Contains(help[name], flag) {
			t.Errorf("%s shows `p8 %s`, whose help does not have %s", page, line, flag)
		}
	}
}

// TestFirstQuestion asks what the README asks first: a new installation without
// a model answers it by quoting a page of the documentation by its key.
func TestFirstQuestion(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(harness.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^p8 chat "([^"]+)"`).FindSubmatch(readme)
	if found == nil {
		t.Fatal("the README does not show a question to `p8 chat`")
	}
	code, answer, stderr := harness.Run(t, []string{"P8_DATA_DIR=" + t.TempDir()}, "chat", string(found[1]))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	pages, err := docs.Pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if strings.Contains(answer, "["+page.Key+"]") {
			return
		}
	}
	t.Errorf("the answer quotes no page by its key:\n%s", answer)
}
