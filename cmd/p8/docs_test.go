package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/docs"
)

// Every document that the documentation shows is one that p8 takes.
func TestDocumentedAgents(t *testing.T) {
	pages, err := docs.Pages()
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?ms)^(?:```yaml|cat .*<<'YAML')\n(type: object\n.*?)^(?:```|YAML)$")
	found := 0
	for _, p := range pages {
		for _, m := range fence.FindAllStringSubmatch(p.Text, -1) {
			found++
			doc, err := agent.Parse(p.Key+".yaml", []byte(m[1]))
			if err != nil {
				t.Error(err)
				continue
			}
			if len(doc.Warnings) > 0 {
				t.Error(doc.Warnings.Detail())
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d documents found", found)
	}
}

// TestFirstCommands compares the first commands of the README with those that the
// transcript first.txtar runs.
func TestFirstCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, start, _ := strings.Cut(string(readme), "\n## Start\n")
	_, start, _ = strings.Cut(start, "\n```\n")
	block, _, _ := strings.Cut(start, "\n```")
	script, err := os.ReadFile("testdata/script/first.txtar")
	if err != nil {
		t.Fatal(err)
	}
	run := []string{"go install ./cmd/p8"} // the test is built from it
	for line := range strings.Lines(string(script)) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "exec "); ok {
			run = append(run, strings.ReplaceAll(strings.TrimSuffix(command, " &server&"), "'", `"`))
		}
	}
	var want []string
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(line, "  #")
		want = append(want, strings.TrimSpace(command))
	}
	if diff := cmp.Diff(want, run); diff != "" || len(want) < 10 {
		t.Errorf("-README +transcript:\n%s", diff)
	}
}

// Every command that the documentation names exists, and every verb is there.
func TestDocumentedCommands(t *testing.T) {
	pages, err := docs.Pages()
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?ms)^```\n(.*?)^```$")
	command := regexp.MustCompile("(?:`|(?m:^))p8 ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
	inline := regexp.MustCompile("`p8 [^`]*`")
	known := map[string]string{
		"init": "", "dev": "", "serve": "", "chat": "", "simulate": "", "mcp": "", "query": "", "ask": "", "upsert": "", "verify-links": "",
		"schema": "list show validate import convert history diff rollback spec", "sessions": "list show context timeline title share shares unshare delete",
		"moments": "list show rate edit delete today feed timeline compact", "today": "", "feed": "", "timeline": "", "compact": "",
		"dream": "", "remind": "", "reminders": "list delete", "completion": "",
		"approvals": "list show approve deny", "runs": "list show resume stop", "jobs": "list retry cancel stats",
		"models": "", "test": "", "tools": "", "login": "", "logout": "", "whoami": "", "me": "export delete deletion", "keys": "create list revoke", "users": "add list password remove forget", "audit": "", "usage": "", "trace": "", "feedback": "list give delete", "eval": "run sessions dataset list show delete", "experiments": "create list show run export", "migrate": "", "doctor": "", "quota": "list set remove", "retention": "list set remove", "db": "rebuild-keys", "secrets": "rotate encrypt", "config": "", "version": "", "help": "",
	}
	for _, p := range pages {
		code := strings.Join(inline.FindAllString(fence.ReplaceAllString(p.Text, ""), -1), "\n") +
			"\n" + strings.Join(fence.FindAllString(p.Text, -1), "\n")
		for _, m := range command.FindAllStringSubmatch(code, -1) {
			verbs, ok := known[m[1]]
			if !ok || verbs != "" && m[2] != "" && !strings.Contains(verbs, m[2]) {
				t.Errorf("%s: there is no %q", p.Key, m[0])
			}
		}
		if p.Key != "command-line" {
			continue
		}
		for verb := range known {
			if !strings.Contains(p.Text, "p8 "+verb) && verb != "help" {
				t.Errorf("the command line page does not name %s", verb)
			}
		}
	}
}
