package people

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/privacy"
	"github.com/p8-org/p8/store"
)

type exportCmd struct {
	command.Caller
	peer.Elsewhere
	Output string `short:"o" placeholder:"FILE" help:"Write to this file instead of standard output."`
}

// Run writes the data of the caller.
func (c *exportCmd) Run(a *command.App) error {
	return peer.Read(a, c.Caller, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) error {
		id, err := identity.From(ctx)
		switch {
		case err != nil:
			return err
		case id.Anonymous():
			return nobody()
		case s == nil && r == nil:
			return errors.New("nothing is stored yet, so there is nothing to export")
		}
		write := func(w io.Writer) error {
			end := &ending{w: w}
			if r != nil {
				err = r.Download(ctx, "me/export", end)
			} else {
				err = privacy.New(privacy.Options{Store: s}).Export(ctx, end)
			}
			if err == nil && !end.whole() {
				err = errors.New("the export ended early, so it is not whole: try again")
			}
			return err
		}
		if c.Output == "" {
			return write(a.Stdout)
		}
		return c.toFile(a, write)
	})
}

// toFile writes a file that only its owner can read. A file that is not whole is removed.
func (c *exportCmd) toFile(a *command.App, write func(io.Writer) error) error {
	part := c.Output + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("%s cannot be written, %s: choose another file with -o", c.Output, show.Reason(err))
	}
	out := &noted{w: f}
	err = write(out)
	closed := f.Close()
	if err == nil && closed == nil {
		err = os.Rename(part, c.Output)
	}
	if err = errors.Join(err, closed); err == nil {
		a.Say("%s has %s", c.Output, show.Count(int(out.lines)-2, "row"))
		return nil
	}
	_ = os.Remove(part)
	if out.err != nil {
		return fmt.Errorf("%s cannot be written, %s: choose another file with -o", c.Output, show.Reason(out.err))
	}
	return err
}

// noted counts the lines of a file, and remembers why one could not be written.
type noted struct {
	w     io.Writer
	lines int64
	err   error
}

func (n *noted) Write(b []byte) (int, error) {
	written, err := n.w.Write(b)
	n.lines += int64(bytes.Count(b[:written], []byte("\n")))
	n.err = err
	return written, err
}

// ending remembers the last line of an export, which is short.
type ending struct {
	w    io.Writer
	last []byte
}

func (e *ending) Write(b []byte) (int, error) {
	const most = 64 << 10
	e.last = append(e.last, b...)
	if cut := len(e.last) - most; cut > 0 {
		e.last = append(e.last[:0], e.last[cut:]...)
	}
	return e.w.Write(b)
}

// whole reports whether the last line is that of a whole export.
func (e *ending) whole() bool {
	lines := bytes.Split(bytes.TrimSuffix(e.last, []byte("\n")), []byte("\n"))
	var last privacy.Last
	return json.Unmarshal(lines[len(lines)-1], &last) == nil && last.End
}
