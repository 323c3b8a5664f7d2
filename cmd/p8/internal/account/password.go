package account

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/signin"
)

// maxPassword bounds what is read of a password.
const maxPassword = 64 << 10

// withPassword gets a token of the server itself, which has the user and the password.
func (c *Login) withPassword(ctx context.Context, a *command.App, _ *config.Config, base *url.URL) (*signin.Login, error) {
	if err := signin.CheckServer(base); err != nil {
		return nil, err
	}
	password, err := readPassword(ctx, a)
	if err != nil {
		return nil, err
	}
	var in struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}
	body := map[string]string{"email": c.Email, "password": password, "tenant_id": c.Tenant}
	if err := peer.WithToken(base, "").Do(ctx, http.MethodPost, "/auth/login", nil, body, &in); err != nil {
		return nil, err
	}
	if in.Token == "" {
		return nil, errors.New("the server gave no token")
	}
	return &signin.Login{Server: base.String(), Resource: base.String(), Access: in.Token, Expires: in.Expires}, nil
}

// readPassword reads a password from a terminal, without showing it, or the first line of
// stdin.
func readPassword(ctx context.Context, a *command.App) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	terminal := show.IsTerminal(a.Stdin)
	restore := func() {}
	if terminal {
		fmt.Fprint(a.Stderr, "Password: ")
		restore = term.Keep(a.Stdin)
	}
	go func() {
		if terminal {
			text, err := term.Password(a.Stdin)
			done <- read{text, err}
			return
		}
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, maxPassword)).ReadString('\n')
		if errors.Is(err, io.EOF) && line != "" {
			err = nil
		}
		done <- read{strings.TrimRight(line, "\r\n"), err}
	}()
	select {
	case r := <-done:
		if terminal {
			fmt.Fprintln(a.Stderr)
		}
		if r.err == nil && r.text == "" || errors.Is(r.err, io.EOF) {
			return "", errors.New("there is no password: enter it at a terminal, or write it to stdin")
		}
		return r.text, r.err
	case <-ctx.Done():
		restore()
		return "", ctx.Err()
	}
}
