package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/p8-org/p8/internal/ingest/internal/extract"
)

// bigFile is the size above which only one file or text is in memory at a time: its rows
// may need several times its size.
const bigFile = 4 << 20

// share is the slot of a big file. The zero value holds none.
type share struct{ heavy chan struct{} }

// take waits for the slot if the size needs one; release frees it.
func (s *share) take(ctx context.Context, in *Ingester, size int) error {
	if size <= bigFile || s.heavy != nil {
		return nil
	}
	select {
	case in.heavy <- struct{}{}:
		s.heavy = in.heavy
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *share) release() {
	if s.heavy != nil {
		<-s.heavy
		s.heavy = nil
	}
}

// load reads the text of a file and its hash. It streams text, so that it is in memory
// once, and passes a file that has to be parsed to the Extractor.
func (in *Ingester) load(ctx context.Context, c *candidate, s *share) (extract.Plain, error) {
	size := c.size
	if !c.format.Parsed() && size > extract.MaxText {
		return extract.Plain{}, fmt.Errorf("%w: it holds more than %d MiB of text; split it", ErrTooLarge, extract.MaxText>>20)
	}
	if err := s.take(ctx, in, int(size)); err != nil {
		return extract.Plain{}, err
	}
	f, err := c.open()
	if err != nil {
		return extract.Plain{}, errors.New(reason(err))
	}
	defer f.Close()
	sum := sha256.New()
	r := io.TeeReader(io.LimitReader(f, size), sum)
	var plain extract.Plain
	if c.format.Parsed() {
		x, err := in.Extractor.Extract(ctx, string(c.format), r, size)
		if err != nil {
			return plain, err
		}
		if plain, err = x.check(); err != nil {
			return plain, err
		}
	} else {
		var b strings.Builder
		b.Grow(int(size))
		if _, err := io.Copy(&b, r); err != nil {
			return plain, errors.New(reason(err))
		}
		plain.Text = b.String()
	}
	if n, err := io.Copy(io.Discard, f); err != nil || n > 0 {
		return plain, errors.New("it changed while it was read: store it again")
	}
	c.hash = hex.EncodeToString(sum.Sum(nil))
	if len(plain.Text) < bigFile {
		return plain, nil
	}
	return plain, s.take(ctx, in, len(plain.Text))
}
