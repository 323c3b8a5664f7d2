package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/p8-org/p8/cmd/p8/internal/term/termtest"
)

// console is p8 on a terminal, with a person at the keyboard.
type console struct {
	t      *testing.T
	file   *os.File
	screen *termtest.Screen
	over   chan error
	read   chan struct{}
}

// onTerminal starts p8 on a terminal of 80 by 30.
func onTerminal(t *testing.T, environ []string, args ...string) *console {
	t.Helper()
	return onTerminalOf(t, 80, 30, environ, args...)
}

// onTerminalOf starts p8 on a terminal of that size.
func onTerminalOf(t *testing.T, columns, rows uint16, environ []string, args ...string) *console {
	t.Helper()
	cmd := exec.Command("p8", args...)
	cmd.Env, cmd.Dir = environ, t.TempDir()
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, file: file, screen: termtest.New(int(columns), int(rows)), over: make(chan error, 1), read: make(chan struct{})}
	go func() {
		defer close(c.read)
		b := make([]byte, 4096)
		for {
			n, err := file.Read(b)
			_, _ = c.screen.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	go func() { c.over <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		file.Close()
		<-c.read
	})
	return c
}

// types types, and waits until the screen shows every text.
func (c *console) types(keys string, want ...string) {
	c.t.Helper()
	if _, err := c.file.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
	c.shows(want...)
}

func (c *console) shows(want ...string) {
	c.t.Helper()
	missing := ""
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		shown := c.screen.String()
		missing = ""
		for _, w := range want {
			if !strings.Contains(shown, w) {
				missing = w
			}
		}
		if missing == "" {
			return
		}
	}
	c.t.Fatalf("%q is missing on the screen:\n%s", missing, c.screen)
}

// ends waits for the end of p8, and looks whether the terminal understood everything.
func (c *console) ends() {
	c.t.Helper()
	select {
	case err := <-c.over:
		if err != nil {
			c.t.Errorf("it ended with %v:\n%s", err, c.screen)
		}
	case <-time.After(20 * time.Second):
		c.t.Fatalf("it goes on:\n%s", c.screen)
	}
	if u := c.screen.Unknown(); len(u) > 0 {
		c.t.Errorf("not every terminal knows %q", u)
	}
}

// terminalEnviron is the environment of p8 on a terminal, and its data folder.
func terminalEnviron(t *testing.T, model string) (environ []string, data string) {
	data = filepath.Join(t.TempDir(), "data")
	return append(useProvider(newProvider(t), model), "P8_DATA_DIR="+data, "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"),
		"OLLAMA_HOST=127.0.0.1:1", "TERM=xterm-256color", "P8_SCHEMA_DIR="+agentsOf(t)), data
}

// agentsOf is a folder with an agent that asks, and one that says little.
func agentsOf(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"brief.yaml":   "type: object\nname: brief\ndescription: Say little.\n",
		"careful.yaml": "type: object\nname: careful\ndescription: Ask before you look.\ntools:\n  - name: search\n    approval: always\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A person types, completes, reads, changes the agent and leaves.
func TestREPL(t *testing.T) {
	environ, data := terminalEnviron(t, "openai:echo")
	c := onTerminal(t, environ, "chat", "--session", "trip", "--agent", "brief")
	c.shows("p8 · brief · openai:echo\nsession trip\n", "›")
	c.types("# Some **bold** `words`\r", "› # Some **bold** `words`\n\nYou said: # Some bold words\n\nbrief · openai:echo · ")
	c.types("two\\\r", "› two")
	c.types("lines\r", "› two\n  lines\n\nYou said: two lines\n")
	c.types("/ag\t", "› /agents")
	c.types("gen\t\r", "› /agents general\ngeneral answers from here on\n")
	c.types("/agnts\r", "✗ there is no command /agnts; did you mean /agents?")
	c.types("/zzz\r", "✗ there is no command /zzz: /help lists those there are")
	c.types("/model nobody:x\r", "✗ there is no model nobody:x")
	c.types("/agents nobody\r", "✗ there is no agent \"nobody\": /agents lists those there are")
	c.types("/agents\r", "● general", "  auto                   p8 chooses the agent for each message")
	c.types("/agents au\t\r", "auto answers from here on\n")
	c.types("/model nobody:x\r", "✗ there is no model nobody:x")
	c.types("/agents\r", "● auto", "  general")
	c.types("/agents general\r", "general answers from here on\n")
	c.types("/s\t", "/sessions  /stop")
	c.types("\x15/memory\r", "session trip · general · openai:echo\npayload ", "░", "message", "session-trip-msg-1")
	c.types("/sessions\r", "trip ", "brief")
	c.types("/new\r", "new session ")
	c.types("/sessions tr\t\r", "› /sessions trip\nsession trip, 4 messages\n")
	c.types("/help\r", "/timeline [N]", "/quit")
	c.types("\x1b[A\x1b[A\x1b[A\x1b[A", "› /memory")
	c.types("\x03\x03", "Ctrl-D or /quit ends the chat")
	c.types("\x04")
	c.ends()

	file := filepath.Join(data, "chat_history")
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, string(kept), "# Some **bold** `words`\n"+`two\nlines`+"\n/agents general\n")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	// The history is there the next time.
	c = onTerminal(t, environ, "chat")
	c.shows("›")
	c.types("\x12two", "› two\n  lines\nsearch back: two")
	c.types("\r\r", "You said: two lines")
	c.types("/quit\r")
	c.ends()
}

// Ctrl-C stops the answer and keeps what was said; the chat goes on.
func TestREPLInterrupt(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:slow")
	c := onTerminal(t, environ, "chat", "-s", "s")
	c.shows("›")
	c.types("Go on\r", "› Go on\n", "The beginning", "answers · openai:slow", "Ctrl-C stops")
	c.types("\x03", "The beginning\n\ngeneral · openai:slow · ", "· stopped\n\n›")
	c.types("/model openai:echo\r", "openai:echo answers from here on")
	c.types("Hello\r", "You said: Hello")
	c.types("exit\r")
	c.ends()
	mustContain(t, showSession(t, environ), "#2 assistant openai:slow cancelled", "\nThe beginning\n")
}

// What a run asks is asked at once.
func TestREPLApproval(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:search")
	c := onTerminal(t, environ, "chat", "--agent", "careful")
	c.shows("›")
	c.types("Where?\r", "? ", "y approves, n denies, Enter leaves it open")
	c.types("perhaps\r", "? perhaps\n")
	c.types("y\r", "✓ search", "It is in sessions.")
	c.types("And?\r", "› And?")
	c.types("\x04")
	c.types("\x04")
	c.ends()
}

// A chat that is not stored keeps nothing of what was typed either.
func TestREPLNoStore(t *testing.T) {
	environ, data := terminalEnviron(t, "openai:echo")
	c := onTerminal(t, append(environ, "NO_COLOR=1"), "chat", "--no-store")
	c.shows("›")
	c.types("A `secret`\r", "You said: A `secret`")
	c.types("/timeline\r", "✗ nothing of this chat is stored, so there is nothing to show")
	c.types("\x04")
	c.ends()
	if _, err := os.Stat(filepath.Join(data, "chat_history")); !os.IsNotExist(err) {
		t.Errorf("a history was kept: %v", err)
	}
}

// A dumb terminal gets lines and nothing else.
func TestREPLDumb(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	c := onTerminal(t, append(environ, "TERM=dumb"), "chat", "--session", "s")
	c.shows("p8: session s, agent general, model openai:echo")
	c.types("# Hi\r", "You said: # Hi")
	c.types("exit\r")
	c.ends()
}

// One message on a terminal is rendered, and says how to go on.
func TestChatOnceOnTerminal(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	c := onTerminal(t, environ, "chat", "Some **bold** words")
	c.shows("You said: Some bold words\nto go on: p8 chat --session ")
	c.ends()
}

// The queries have the same editor.
func TestQueryOnTerminal(t *testing.T) {
	environ, data := terminalEnviron(t, "openai:echo")
	printed(t, environ, "migrate")
	c := onTerminal(t, environ, "query")
	c.shows("rem>")
	// Before the next prompt the terminal itself would take Ctrl-C.
	c.types("look\t nobody\r", "rem> LOOKUP  nobody\n", "nothing found\nrem>")
	c.types("\x03", "rem>\nrem>")
	c.types("\x04")
	c.ends()
	if kept, _ := os.ReadFile(filepath.Join(data, "query_history")); string(kept) != "LOOKUP  nobody\n" {
		t.Errorf("%q", kept)
	}
}
