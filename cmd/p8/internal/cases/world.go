package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/redact"
	"github.com/p8-org/p8/internal/replay"
	"github.com/p8-org/p8/internal/testcase"
)

// worlds makes the world of each case: a p8 of its own with an empty store in memory.
type worlds struct {
	app *command.App
	cfg *config.Config
}

func (w *worlds) open(ctx context.Context, c *testcase.Case, tape *replay.Tape, at time.Time) (testcase.World, func(), error) {
	cfg, err := wiring.TestConfig(w.cfg, w.documents(c))
	if err != nil {
		return nil, nil, err
	}
	var ids, ticks atomic.Int64
	p, err := wiring.Open(ctx, cfg, wiring.Options{
		Log: w.app.QuietLogger(cfg), Tape: tape, Document: c.Document,
		// The clock goes on by a microsecond each time, so that rows have an order.
		Now: func() time.Time { return at.Add(time.Duration(ticks.Add(1)) * time.Microsecond) },
		// The ids of one world; each has the form of a UUID of version 7.
		NewID: func() string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", ids.Add(1)) },
	})
	if err != nil {
		return nil, nil, err
	}
	if err := w.load(ctx, p, c); err != nil {
		p.Close()
		return nil, nil, err
	}
	if _, err := p.Catalog.Agent(ctx, c.Agent); err != nil {
		p.Close()
		return nil, nil, fmt.Errorf("%w in %s", notFound(err), cfg.SchemaDir)
	}
	return p.Chat, p.Close, nil
}

// notFound words the error of an agent.
func notFound(err error) error {
	var missing *catalog.NotFoundError
	if errors.As(err, &missing) {
		return missing
	}
	return err
}

// documents returns the folder of a case's documents: that of --schema-dir, that which the
// file names, or the folder of the file, or above it if that is called tests.
func (w *worlds) documents(c *testcase.Case) string {
	dir := filepath.Dir(c.File)
	switch {
	case w.app.Folders.SchemaDir != "":
		return w.app.Folders.SchemaDir
	case c.Documents != "":
		return filepath.Join(dir, filepath.FromSlash(c.Documents))
	case filepath.Base(dir) == "tests":
		return filepath.Dir(dir)
	}
	return dir
}

// load stores what the case loads.
func (w *worlds) load(ctx context.Context, p *wiring.Parts, c *testcase.Case) error {
	if len(c.Load) == 0 {
		return nil
	}
	paths := make([]string, len(c.Load))
	for i, path := range c.Load {
		paths[i] = filepath.FromSlash(path)
		if !filepath.IsAbs(paths[i]) {
			paths[i] = filepath.Join(filepath.Dir(c.File), paths[i])
		}
		if _, err := os.Stat(paths[i]); err != nil {
			return fmt.Errorf("load: there is no file or folder %s: paths begin at the folder of the file of cases", show.OneLine(path))
		}
	}
	return p.Load(identity.With(ctx, identity.Identity{TenantID: identity.DefaultTenant}), paths)
}

// documentation matches addresses of the domains that are reserved for examples. They are
// nobody's, and stay.
var documentation = regexp.MustCompile(`(?:^|[\s<>"'(\[,;={])[\w.+-]+@(?:[\w-]+\.)*example\.(?:com|org|net)\b`)

// cleaner returns the function that removes keys, tokens and addresses from recordings.
func cleaner(cfg *config.Config) (func(string) string, error) {
	r, err := redact.New(redact.Options{Patterns: []string{"secrets", "email"}, Own: cfg.OwnPatterns(), Secrets: secrets(cfg)})
	if err != nil {
		return nil, err
	}
	// One word for all: a key of the settings is known as such only where it is set.
	same := strings.NewReplacer("[p8]", "[secret]", "[token]", "[secret]", "[jwt]", "[secret]", "[aws]", "[secret]", "[private-key]", "[secret]")
	return func(s string) string {
		var b strings.Builder
		at := 0
		for _, m := range documentation.FindAllStringIndex(s, -1) {
			b.WriteString(r.Text(s[at:m[0]]))
			b.WriteString(s[m[0]:m[1]])
			at = m[1]
		}
		b.WriteString(r.Text(s[at:]))
		return same.Replace(b.String())
	}, nil
}

// secrets returns the secret settings, and the values of variables that are secret by their
// names.
func secrets(cfg *config.Config) []string {
	out := cfg.Secrets()
	for _, v := range cfg.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if secretName.MatchString(name) {
			out = append(out, value)
		}
	}
	return out
}

var secretName = regexp.MustCompile(`(?i)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)`)
