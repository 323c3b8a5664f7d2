package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/logins"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/seal"
)

// Secrets is p8 secrets.
type Secrets struct {
	Rotate secretsRotateCmd `cmd:"" help:"Seal all stored secrets anew with the first key of P8_SECRET_KEY." example:"p8 secrets rotate"`
}

type secretsRotateCmd struct{}

// Run seals what is in the database and in the data folder. It may be repeated. It fails as long
// as a secret needs another key than the first.
func (secretsRotateCmd) Run(a *command.App) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	ctx := context.Background()
	var open error
	left := 0
	for _, of := range []struct {
		name   string
		rotate func() (seal.Rotation, error)
	}{
		{"webhooks", func() (seal.Rotation, error) { return rotateHooks(ctx, a, cfg) }},
		{"logins at MCP servers", func() (seal.Rotation, error) { return logins.ForMCP(cfg.DataDir, cfg.SecretKey).Rotate(ctx) }},
		{"logins at p8 servers", func() (seal.Rotation, error) { return logins.ForP8(cfg.DataDir, cfg.SecretKey).Rotate(ctx) }},
	} {
		n, err := of.rotate()
		if err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
		fmt.Fprintf(a.Stdout, "%s: %d sealed anew, %d had the first key already", of.name, n.Sealed, n.Same)
		if n.Older > 0 {
			fmt.Fprintf(a.Stdout, ", %d are of an older p8 and keep their key until they are renewed", n.Older)
		}
		if n.Failed > 0 {
			fmt.Fprintf(a.Stdout, ", %d cannot be opened", n.Failed)
		}
		fmt.Fprintln(a.Stdout)
		if open == nil {
			open = n.Err
		}
		left += n.Older + n.Failed
	}
	switch {
	case open != nil:
		return fmt.Errorf("%s stayed as it was; the first: %w", show.Count(left, "secret"), open)
	case left > 0:
		return fmt.Errorf("%s of an older p8 stayed as it was: leave the old key in P8_SECRET_KEY, and repeat this later, or sign in again", show.Count(left, "login"))
	}
	return nil
}

// rotateHooks rotates the secrets in the database, if there is one.
func rotateHooks(ctx context.Context, a *command.App, cfg *config.Config) (n seal.Rotation, err error) {
	db := cfg.Database()
	if db.None {
		return n, nil
	}
	if db.Postgres == "" {
		if _, err := os.Stat(db.Path); errors.Is(err, fs.ErrNotExist) {
			return n, nil
		}
	}
	s, err := wiring.ConnectStore(ctx, cfg, a.QuietLogger(cfg))
	if err != nil {
		return n, err
	}
	defer s.Close()
	return a2a.Rotate(ctx, s.Maintenance(), wiring.NewSeal(cfg))
}
