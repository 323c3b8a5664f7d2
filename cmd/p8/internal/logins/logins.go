// Package logins keeps the logins of persons at MCP servers, and of the user of the command
// line at p8 servers: a file each, in the data folder, so that a login works while a server
// has the database.
//
// A file is encrypted with AES-256-GCM. Its key is derived from the setting, or from a
// key file beside the logins that only its owner can read; the tenant, the user and the
// address of the server are authenticated with it, so that no file serves for another
// person or another server.
package logins

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
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
	"sync"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/filelock"
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
	dir, secret, purpose string

	mu   sync.Mutex
	aead cipher.AEAD
}

// ForMCP returns the logins at MCP servers in a data folder, which is made when it is
// needed. secret is the text that the key is derived from; "" means the key file.
func ForMCP(dataDir, secret string) MCP {
	return MCP{&Files{dir: filepath.Join(dataDir, FolderMCP), secret: secret, purpose: "p8 logins of MCP servers"}}
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
func ForP8(dataDir, secret string) *Files {
	return &Files{dir: filepath.Join(dataDir, FolderP8), secret: secret, purpose: "p8 logins of p8 servers"}
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
	aead, err := f.cipher(false)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nil, sealed, about)
	if err != nil {
		return nil, errors.New("the login was encrypted with another key (P8_SECRET_KEY, or the key file)")
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
	aead, err := f.cipher(true)
	if err != nil {
		return err
	}
	if err := replace(name, aead.Seal(nil, nil, plain, about)); err != nil {
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

// place returns the file of a login, and what is authenticated with it. The name begins with
// that of the person, so that all logins of a person are found.
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

// cipher returns the cipher of the logins; create makes the folder and the key file.
func (f *Files) cipher(create bool) (cipher.AEAD, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if create {
		if err := os.MkdirAll(f.dir, 0o700); err != nil {
			return nil, err
		}
	}
	if f.aead != nil {
		return f.aead, nil
	}
	secret := []byte(f.secret)
	if f.secret == "" {
		var err error
		if secret, err = f.key(create); err != nil {
			return nil, err
		}
	}
	key, err := hkdf.Key(sha256.New, secret, nil, f.purpose, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	f.aead, err = cipher.NewGCMWithRandomNonce(block)
	return f.aead, err
}

// key reads the key file; create makes it if it is missing. Of several processes that make
// it at the same time one succeeds.
func (f *Files) key(create bool) ([]byte, error) {
	name := filepath.Join(f.dir, keyFile)
	secret, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		secret = make([]byte, 32)
		rand.Read(secret)
		if err := write(name+"."+rand.Text(), secret, func(temporary string) error { return os.Link(temporary, name) }); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		secret, err = os.ReadFile(name)
	}
	switch {
	case err != nil:
		return nil, err
	case len(secret) != 32:
		return nil, fmt.Errorf("the key file %s is damaged", name)
	}
	return secret, nil
}

// replace writes a file as a whole.
func replace(name string, content []byte) error {
	return write(name+"."+rand.Text(), content, func(temporary string) error { return os.Rename(temporary, name) })
}

// write writes a temporary file that only its owner can read, and gives it to use.
func write(temporary string, content []byte, use func(string) error) error {
	defer os.Remove(temporary) // unless it was renamed
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return use(temporary)
}
