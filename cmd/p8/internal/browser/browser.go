// Package browser sends the user to a browser, on this machine or on another one.
package browser

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"runtime"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
)

// Open starts the browser of this machine.
func Open(address string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", address).Start()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", address).Start()
	}
	return exec.Command("xdg-open", address).Start()
}

// Sign shows the address at which the user signs in; others may read it, because it holds
// no secret. open also opens it; elsewhere asks for the address to which the browser was
// sent.
func Sign(a *command.App, address string, open, elsewhere bool) {
	a.Say("sign in with a browser, at")
	a.Say("%s", show.Visible(address))
	if elsewhere {
		a.Say("then paste the address to which the browser was sent:")
	}
	if open && Open(address) != nil {
		a.Say("no browser could be opened: copy the address")
	}
}

// Pasted returns the lines of in, until ctx ends.
func Pasted(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(in); in.Scan(); {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
