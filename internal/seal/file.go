package seal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fileSize is the size of a key file, in bytes.
const fileSize = 32

// readFile returns the key file, nil without one; create makes it if it is missing. Of several
// processes that make it at the same time one succeeds.
func (r *Ring) readFile(create bool) ([]byte, error) {
	name := r.o.File
	switch {
	case name == "" && create:
		return nil, errors.New("there is no key to seal secrets with: set P8_SECRET_KEY")
	case name == "":
		return nil, nil
	}
	secret, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return nil, nil
		}
		if err := makeFile(name); err != nil {
			return nil, fmt.Errorf("make the key file (or set P8_SECRET_KEY instead): %w", err)
		}
		secret, err = os.ReadFile(name)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the key file: %w", err)
	case len(secret) != fileSize:
		return nil, fmt.Errorf("the key file %s is damaged: restore it", name)
	}
	return secret, nil
}

// makeFile writes a random key, unless another process has.
func makeFile(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	secret := make([]byte, fileSize)
	rand.Read(secret)
	temporary := name + "." + rand.Text()
	defer os.Remove(temporary)
	if err := os.WriteFile(temporary, secret, 0o600); err != nil {
		return err
	}
	if err := os.Link(temporary, name); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
