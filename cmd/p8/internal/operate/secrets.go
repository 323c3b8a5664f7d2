package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/logins"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/seal"
	"github.com/p8-org/p8/store"
)

// Secrets is p8 secrets.
type Secrets struct {
	Rotate  secretsRotateCmd  `cmd:"" help:"Seal all stored secrets anew with the first key of P8_SECRET_KEY." example:"p8 secrets rotate"`
	Encrypt secretsEncryptCmd `cmd:"" help:"Encrypt what the tenants of P8_ENCRYPT_TENANTS wrote before they were encrypted." example:"p8 secrets encrypt"`
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
		{"data keys of encrypted tenants", func() (seal.Rotation, error) { return inStore(ctx, a, cfg, rotateDataKeys) }},
		{"webhooks", func() (seal.Rotation, error) {
			return inStore(ctx, a, cfg, func(ctx context.Context, m store.Maintenance) (seal.Rotation, error) {
				return a2a.Rotate(ctx, m, wiring.NewSeal(cfg))
			})
		}},
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

// inStore calls do for the database, if there is one.
func inStore[T any](ctx context.Context, a *command.App, cfg *config.Config, do func(context.Context, store.Maintenance) (T, error)) (n T, err error) {
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
	return do(ctx, s.Maintenance())
}

func rotateDataKeys(ctx context.Context, m store.Maintenance) (n seal.Rotation, err error) {
	n.Sealed, n.Same, err = m.RotateDataKeys(ctx)
	return n, err
}

type secretsEncryptCmd struct{}

// Run encrypts rows in small transactions. It may be interrupted, and repeated.
func (secretsEncryptCmd) Run(a *command.App) error {
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	if len(cfg.EncryptTenants) == 0 {
		return command.Usage("P8_ENCRYPT_TENANTS is not set: it says whose texts are encrypted, such as acme,beta or *")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	rows, err := inStore(ctx, a, cfg, func(ctx context.Context, m store.Maintenance) (int64, error) {
		return m.EncryptRows(ctx, func(tenant, table string, rows int64) {
			if rows > 0 {
				fmt.Fprintf(a.Stdout, "%s: %s of %s\n", tenant, show.Count(int(rows), "row"), table)
			}
		})
	})
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: what was encrypted stays so, and p8 secrets encrypt goes on with the rest")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%s encrypted; new ones are as they are written\n", show.Count(int(rows), "row"))
	return nil
}
