package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
)

// Files go with the next message, and the last answer to the clipboard.
func TestREPLMessage(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	note := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(note, []byte("The train leaves at nine.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := onTerminalOf(t, 160, 40, environ, "chat", "--agent", "brief")
	c.shows("›")
	c.types("/copy\r", "✗ there is no answer to copy yet")
	c.types("/thinking\r", "there was no reasoning in the last answer")
	c.types("/attach\r", "✗ say which file: /attach photo.png")
	c.types("/attach nothing.png\r", "✗ the file nothing.png cannot be read")
	c.types("/attach "+note+"\r", "note.txt goes with the next message")
	c.types("When?\r", "You said: When?", "The train leaves at nine.")
	c.types("Again\r", "You said: Again\n")
	c.types("/copy\r", "copied, if the terminal lets programs use the clipboard")
	if got, err := base64.StdEncoding.DecodeString(c.screen.Clipboard()); err != nil || string(got) != "You said: Again" {
		t.Errorf("the clipboard has %q, %v", got, err)
	}
	c.types("\x04")
	c.ends()
}

// On a terminal p8 simulate draws what front ends draw.
func TestSimulateOnTerminal(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	c := onTerminalOf(t, 100, 80, environ, "simulate", "--delay", "0", "--children")
	c.shows("∴ thought for ", "✓ ", "╭ researcher", "? Was this SSE demonstration helpful?", "[Yes] [Partly] [No]")
	c.ends()
}

// Ctrl-C stops a command that waits for a model.
func TestREPLInterruptsCommands(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	c := onTerminal(t, append(environ, "P8_SUMMARY_MODEL=openai:slow"), "chat", "--agent", "brief")
	c.shows("›")
	c.types("Hello\r", "You said: Hello")
	c.types("/compact 1\r", "› /compact 1\n")
	c.types("\x03", "stopped\n\n›")
	c.types("Hello again\r", "You said: Hello again")
	c.types("\x04")
	c.ends()
}
