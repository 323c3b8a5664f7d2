package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// save writes a document as editors do: into a new file, which takes the place of the old.
func save(t *testing.T, path, text string) {
	t.Helper()
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".swp")
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}

// A person writes agents in an editor and talks to them.
func TestDev(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	dir := filepath.Join(t.TempDir(), "team")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a.yaml")
	c := onTerminalOf(t, 200, 40, append(environ, "NO_COLOR=1"), "dev", dir)
	c.shows("team, which has no documents yet: `p8 init", "p8 · general · openai:echo", "›")
	// The first document answers, at once, and what is being typed stays.
	c.types("Hello", "› Hello")
	save(t, file, "type: object\nname: first\ndescription: Answer.\n")
	c.shows("a.yaml is the agent first\n", "first answers from here on\n› Hello")
	c.types("\r", "You said: Hello", "first · openai:echo")
	// A mistake is shown with its place; the next turn says so, too.
	save(t, file, "type: object\nname: first\ndescription: [1\n")
	c.shows("team/a.yaml:3:14: error: this is not valid YAML", "> 3 | description: [1", "first cannot answer until this is mended")
	c.types("Hello?\r", "✗ first cannot answer: mend ")
	save(t, file, "type: object\nname: first\ndescription: Answer again.\n")
	c.types("Again\r", "You said: Again")
	// A changed name is followed, a new document only mentioned, a deleted one missed.
	save(t, file, "type: object\nname: renamed\ndescription: Answer.\n")
	c.shows("renamed answers from here on")
	save(t, filepath.Join(dir, "b.yaml"), "type: object\nname: second\ndescription: Answer.\n")
	c.shows("b.yaml is the agent second\n")
	// A sub-agent of Claude Code is an agent, too. A page is not.
	save(t, filepath.Join(dir, "README.md"), "# These agents\n")
	save(t, filepath.Join(dir, "c.md"), "---\nname: third\ndescription: Answers\ntools: Bash\n---\nAnswer.\n")
	c.shows("c.md:4:8: warning: the tool Bash is left out", "c.md is the agent third\n")
	c.types("Whose?\r", "renamed · openai:echo")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	c.shows("a.yaml is gone, and with it the agent renamed")
	c.types("You?\r", "✗ there is no agent \"renamed\"")
	c.types("/agents second\r", "second answers from here on")
	c.types("You?\r", "second · openai:echo")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c.shows("team cannot be read: is it still there?")
	c.types("\x04")
	c.ends()
}

// On a narrow terminal nothing is wider than it, and the prompt stays whole.
func TestDevNarrow(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	dir := t.TempDir()
	c := onTerminalOf(t, 40, 30, environ, "dev", dir)
	c.shows("›")
	c.types("A text that is longer than the screen is wide", "› A text that is longer than the screen\n   is wide")
	save(t, filepath.Join(dir, "a.yaml"), "type: object\nname: first\ndescription: [a very long text that does not end here\n")
	c.shows("✗ ", "> 3 |", "› A text that is longer than the")
	c.types("\x03\x04")
	c.ends()
}

// Two of them on one folder work; the second stores nothing.
func TestTwoDevs(t *testing.T) {
	environ, data := terminalEnviron(t, "openai:echo")
	dir := agentsOf(t)
	first := onTerminalOf(t, 200, 30, environ, "dev", dir)
	first.shows("›")
	second := onTerminalOf(t, 200, 30, environ, "dev", dir)
	second.shows("nothing of this chat is stored: another p8 uses "+data, "›")
	second.types("Hello\r", "You said: Hello")
	save(t, filepath.Join(dir, "brief.yaml"), "type: object\nname: brief\ndescription: Say less.\n")
	first.shows("brief.yaml has changed: the next turn uses it")
	second.shows("brief.yaml has changed: the next turn uses it")
	for _, c := range []*console{first, second} {
		c.types("\x04")
		c.ends()
	}
}

// In a pipe, changes are lines on stderr, and Ctrl-C ends p8.
func TestDevPipe(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	dir := agentsOf(t)
	cmd := exec.Command("p8", "dev", dir)
	cmd.Env = environ
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(stderr); in.Scan(); {
			lines <- in.Text()
		}
	}()
	until := func(want string) {
		t.Helper()
		for deadline := time.After(20 * time.Second); ; {
			select {
			case line, ok := <-lines:
				if strings.Contains(line, want) {
					return
				}
				if !ok {
					t.Fatalf("it ended without %q", want)
				}
			case <-deadline:
				t.Fatalf("%q does not come", want)
			}
		}
	}
	until("agent brief, model openai:echo")
	save(t, filepath.Join(dir, "brief.yaml"), "type: object\nname: brief\ndescription: [\n")
	until("brief.yaml:3:14: error: ")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	until("p8: stopped")
	for range lines {
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Error(err)
	}
}
