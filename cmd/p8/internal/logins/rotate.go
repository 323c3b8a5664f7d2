package logins

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/p8-org/p8/internal/seal"
)

// The names of logins, and those that an older p8 gave.
var (
	loginName = regexp.MustCompile(`^[0-9a-f]{32}-[0-9a-f]{32}$`)
	olderName = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Rotate seals the logins of all persons with the first key. Those of an older p8 stay as they
// are until they are renewed: they are bound to a person and a server whom their files do not name.
func (f *Files) Rotate(ctx context.Context) (n seal.Rotation, err error) {
	list, err := os.ReadDir(f.dir)
	if err != nil {
		return n, ignoreMissing(err)
	}
	for _, file := range list {
		switch name := file.Name(); {
		case olderName.MatchString(name):
			n.Older++
		case loginName.MatchString(name):
			if err := f.rotate(ctx, filepath.Join(f.dir, name), &n); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (f *Files) rotate(ctx context.Context, name string, n *seal.Rotation) error {
	unlock, err := lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	sealed, err := os.ReadFile(name)
	if err != nil {
		return ignoreMissing(err)
	}
	if !seal.IsSealed(sealed) {
		n.Older++
		return nil
	}
	renewed, same, err := f.ring.Renew(sealed, []byte(filepath.Base(name)))
	switch {
	case err != nil:
		n.Fail(fmt.Errorf("the login in %s: %w", name, err))
		return nil
	case same:
		n.Same++
		return nil
	}
	if err := replace(name, renewed); err != nil {
		return err
	}
	n.Sealed++
	return nil
}
