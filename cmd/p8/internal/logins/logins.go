// Package logins keeps the logins of persons at MCP servers, and of the user of the command
// line at p8 servers: a file each, in the data folder, so that a login works while a server
// has the database.
//
// A file is sealed for its name, which holds digests of the tenant, the user and the address of
// the server, so that no file serves for another person or another server. The key is that of
// P8_SECRET_KEY, or of a key file beside the logins.
package logins

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/filelock"
	"github.com/p8-org/p8/internal/seal"
	"github.com/p8-org/p8/internal/signin"
	"github.com/p8-org/p8/tool/mcp"
)

// FolderMCP and FolderP8 are the folders of the logins in the data folder: those at MCP servers, and those of the
// command line at p8 servers. keyFile is the file with the key in such a folder.
const (
	FolderMCP = "mcp_logins"
	FolderP8  = "logins"
	keyFile   = "key"
)

// maxLogin bounds a file, in bytes.
const maxLogin = 1 << 20

// Files keep logins in a folder. They are safe for concurrent use, also by several
// processes.
type Files struct {
	dir  string
	ring *seal.Ring
}

func newFiles(dir, keys, purpose string) *Files {
	return &Files{dir, seal.New(seal.Options{Keys: keys, File: filepath.Join(dir, keyFile), Purpose: purpose})}
}

// ForMCP returns the logins at MCP servers in a data folder, which is made when it is
// needed. keys are those of P8_SECRET_KEY; "" means the key file.
func ForMCP(dataDir, keys string) MCP {
	return MCP{newFiles(filepath.Join(dataDir, FolderMCP), keys, "p8 logins of MCP servers")}
}

// MCP keeps logins in the type of package mcp, whose fields are the same.
type MCP struct{ *Files }

// Login returns the caller's login at a server, nil for none.
func (m MCP) Login(ctx context.Context, server string) (*mcp.Login, error) {
	l, err := m.Files.Login(ctx, server)
	return (*mcp.Login)(l), err
}

// PutLogin stores the caller's login, in place of an older one.
func (m MCP) PutLogin(ctx context.Context, l *mcp.Login) error {
	return m.Files.PutLogin(ctx, (*signin.Login)(l))
}

// ForP8 returns the logins of the command line at p8 servers, as [ForMCP] does.
func ForP8(dataDir, keys string) *Files {
	return newFiles(filepath.Join(dataDir, FolderP8), keys, "p8 logins of p8 servers")
}

// Login returns the caller's login at a server, nil for none.
func (f *Files) Login(ctx context.Context, server string) (*signin.Login, error) {
	name, about, err := f.place(ctx, server)
	if err != nil {
		return nil, err
	}
	sealed, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		sealed, err = os.ReadFile(f.older(about))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var plain []byte
	if seal.IsSealed(sealed) {
		plain, err = f.ring.Open(sealed, []byte(filepath.Base(name)))
	} else {
		plain, err = f.ring.OpenOlder(sealed, about)
	}
	if err != nil {
		return nil, fmt.Errorf("the login cannot be opened: %w", err)
	}
	login := new(signin.Login)
	if err := json.Unmarshal(plain, login); err != nil || login.Server != server {
		return nil, errors.New("the login is damaged")
	}
	return login, nil
}

// PutLogin stores the caller's login, in place of an older one.
func (f *Files) PutLogin(ctx context.Context, l *signin.Login) error {
	name, about, err := f.place(ctx, l.Server)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if len(plain) > maxLogin {
		return fmt.Errorf("the login has %d bytes; at most %d are stored", len(plain), maxLogin)
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	sealed, err := f.ring.Seal(plain, []byte(filepath.Base(name)))
	if err != nil {
		return err
	}
	if err := replace(name, sealed); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(f.older(about)))
}

// DeleteLogin deletes the caller's login, and reports whether there was one.
func (f *Files) DeleteLogin(ctx context.Context, server string) (bool, error) {
	name, about, err := f.place(ctx, server)
	if err != nil {
		return false, err
	}
	found := false
	for _, name := range []string{name, f.older(about)} {
		err := os.Remove(name)
		if found = found || err == nil; ignoreMissing(err) != nil {
			return found, err
		}
	}
	return found, nil
}

// lockTimeout bounds the wait for another process that renews a login.
const lockTimeout = 30 * time.Second

// LockLogin reserves the caller's login at a server until unlock is called.
func (f *Files) LockLogin(ctx context.Context, server string) (unlock func(), err error) {
	name, _, err := f.place(ctx, server)
	if err != nil {
		return nil, err
	}
	return lock(ctx, name)
}

// lock reserves the file of a login.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	// The file stays: if it were deleted, two processes could lock two files of one name.
	lock, err := os.OpenFile(name+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if err := filelock.Wait(ctx, lock); err != nil {
		lock.Close()
		return nil, fmt.Errorf("another process renews the login: %w", err)
	}
	return func() { lock.Close() }, nil
}

// DeleteLogins deletes all of the caller's logins; those with names of an older p8 are
// deleted by DeleteLogin alone.
func (f *Files) DeleteLogins(ctx context.Context) error {
	name, _, err := f.place(ctx, "")
	if err != nil {
		return err
	}
	of, _, _ := strings.Cut(filepath.Base(name), "-")
	list, err := os.ReadDir(f.dir)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, file := range list {
		if strings.HasPrefix(file.Name(), of+"-") && !strings.HasSuffix(file.Name(), ".lock") {
			if err := ignoreMissing(os.Remove(filepath.Join(f.dir, file.Name()))); err != nil {
				return err
			}
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// place returns the file of a login, and what an older p8 authenticated with it. The name begins
// with that of the person, so that all logins of a person are found.
func (f *Files) place(ctx context.Context, server string) (name string, about []byte, err error) {
	id, err := identity.From(ctx)
	if err != nil {
		return "", nil, err
	}
	who, err := json.Marshal([]string{id.TenantID, id.UserID})
	if err != nil {
		return "", nil, err
	}
	if about, err = json.Marshal([]string{id.TenantID, id.UserID, server}); err != nil {
		return "", nil, err
	}
	return filepath.Join(f.dir, digest(who)[:32]+"-"+digest(about)[:32]), about, nil
}

// older returns the name that an older p8 gave a login.
func (f *Files) older(about []byte) string { return filepath.Join(f.dir, digest(about)) }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// replace writes a file that only its owner can read, as a whole.
func replace(name string, content []byte) error {
	temporary := name + "." + rand.Text()
	defer os.Remove(temporary) // unless it was renamed
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, name)
}
