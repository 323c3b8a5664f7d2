package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/seal"
)

// Encryption encrypts the texts of tenants in the database: [SealedColumns], and the words in
// the index. Each tenant has a data key, which is stored as the master key has wrapped it.
type Encryption struct {
	// Master is the master key; nil means that nothing can be encrypted.
	Master MasterKey
	// Tenants reports whether the rows that a tenant writes from now on are encrypted; nil is
	// none. Those of the system and of the manual never are.
	Tenants func(tenant string) bool
}

// MasterKey wraps the data keys of tenants. A service for keys can be one.
type MasterKey interface {
	// Wrap encrypts the data key of a tenant.
	Wrap(ctx context.Context, tenant string, key []byte) ([]byte, error)
	// Unwrap decrypts it. old is true if it should be wrapped anew.
	Unwrap(ctx context.Context, tenant string, wrapped []byte) (key []byte, old bool, err error)
}

// sealing has the data keys of all tenants; nil is none.
type sealing struct {
	Encryption
	engine Engine
	// making orders those who make or read keys.
	making sync.Mutex
	mu     sync.RWMutex
	known  map[string]*tenantSeal
	// ids are the same by the id of the data key.
	ids map[string]*tenantSeal
	// stale is true if a value was read whose key is not known: another process made it.
	stale atomic.Bool
}

// tenantSeal seals and opens the values of a tenant; nil leaves everything as it is.
type tenantSeal struct {
	tenant string
	key    *seal.DataKey
	// on is true if what the tenant writes is sealed.
	on bool
}

func newSealing(o Encryption, e Engine) *sealing {
	return &sealing{Encryption: o, engine: e, known: make(map[string]*tenantSeal), ids: make(map[string]*tenantSeal)}
}

// wants reports whether the rows of a tenant are to be sealed.
func (z *sealing) wants(tenant string) bool {
	return tenant != identity.SystemTenant && tenant != identity.ManualTenant && z.Tenants != nil && z.Tenants(tenant)
}

// peek returns the key of a tenant that has been read.
func (z *sealing) peek(tenant string) *tenantSeal {
	if z == nil {
		return nil
	}
	z.mu.RLock()
	defer z.mu.RUnlock()
	return z.known[tenant]
}

// of returns the key of a tenant, nil for none. If make is true, a tenant whose rows are to be
// sealed gets one. It must not be called within a transaction.
func (z *sealing) of(ctx context.Context, tenant string, make bool) (*tenantSeal, error) {
	if z == nil {
		return nil, nil
	}
	if z.stale.Load() {
		if err := z.load(ctx); err != nil {
			return nil, err
		}
	}
	if k := z.peek(tenant); k != nil || !z.wants(tenant) {
		return k, nil
	}
	z.making.Lock()
	defer z.making.Unlock()
	if k := z.peek(tenant); k != nil {
		return k, nil
	}
	k, err := z.read(ctx, tenant)
	if err != nil || k != nil || !make {
		return k, err
	}
	if err := z.create(ctx, tenant); err != nil {
		return nil, err
	}
	return z.read(ctx, tenant)
}

// create stores a new data key, unless another process has.
func (z *sealing) create(ctx context.Context, tenant string) error {
	wrapped, err := z.Master.Wrap(ctx, tenant, seal.NewDataKey())
	if err != nil {
		return fmt.Errorf("wrap the data key of the tenant %q: %w", tenant, err)
	}
	return z.engine.WriteSystem(ctx, func(c Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO data_keys (tenant_id, id, wrapped) VALUES ($1, '1', $2) ON CONFLICT DO NOTHING`,
			tenant, base64.StdEncoding.EncodeToString(wrapped))
		return err
	})
}

// read reads the data key of a tenant, nil if there is none. The caller holds making.
func (z *sealing) read(ctx context.Context, tenant string) (*tenantSeal, error) {
	var wrapped string
	found := false
	if err := z.engine.ReadSystem(ctx, func(c Conn) (err error) {
		found, err = one(ctx, c, `SELECT wrapped FROM data_keys WHERE tenant_id = $1`, []any{&wrapped}, tenant)
		return err
	}); err != nil || !found {
		return nil, err
	}
	k, _, err := z.unwrap(ctx, tenant, wrapped)
	return k, err
}

// unwrap opens a data key and remembers it; old is true if it should be wrapped anew.
func (z *sealing) unwrap(ctx context.Context, tenant, wrapped string) (k *tenantSeal, old bool, err error) {
	b, err := base64.StdEncoding.DecodeString(wrapped)
	if err != nil {
		return nil, false, err
	}
	raw, old, err := z.Master.Unwrap(ctx, tenant, b)
	if err != nil {
		return nil, false, err
	}
	key, err := seal.OpenDataKey(raw)
	if err != nil {
		return nil, false, err
	}
	k = &tenantSeal{tenant, key, z.wants(tenant)}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.known[tenant], z.ids[key.ID()] = k, k
	return k, old, nil
}

// ErrSealed: the database has encrypted rows, and the key that opens them is not there. The
// error's text says what to do, without a secret.
var ErrSealed = errors.New("encrypted rows cannot be read")

// load reads all data keys. It is ErrSealed if one cannot be opened.
func (z *sealing) load(ctx context.Context) error {
	z.making.Lock()
	defer z.making.Unlock()
	keys, err := dataKeys(ctx, z.engine)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if _, _, err := z.unwrap(ctx, k.tenant, k.wrapped); err != nil {
			if lost := (*seal.KeyError)(nil); errors.As(err, &lost) {
				return fmt.Errorf("%w: those of the tenant %q (of %d) were encrypted with another key than that of P8_SECRET_KEY: add the text of that key after a comma", ErrSealed, k.tenant, len(keys))
			}
			return fmt.Errorf("%w: the data key of the tenant %q (of %d): %w", ErrSealed, k.tenant, len(keys), err)
		}
	}
	z.stale.Store(false)
	return nil
}

// dataKey is a row of the table.
type dataKey struct{ tenant, wrapped string }

func dataKeys(ctx context.Context, e Engine) (keys []dataKey, err error) {
	err = e.ReadSystem(ctx, func(c Conn) error {
		keys = nil
		return c.Query(ctx, `SELECT tenant_id, wrapped FROM data_keys ORDER BY tenant_id`, func(r Row) error {
			var k dataKey
			err := r.Scan(&k.tenant, &k.wrapped)
			keys = append(keys, k)
			return err
		})
	})
	return keys, err
}

// Open is NewWith for an engine whose tables are there: it reads the data keys. It is
// [ErrSealed] if one cannot be opened.
func Open(ctx context.Context, e Engine, o Options) (*Store, error) {
	s := NewWith(e, o)
	if o.Encryption.Master == nil {
		keys, err := dataKeys(ctx, e)
		if err == nil && len(keys) > 0 {
			err = fmt.Errorf("%w: those of %d tenants, such as %q, need a key: set P8_SECRET_KEY to the text with which they were encrypted", ErrSealed, len(keys), keys[0].tenant)
		}
		return s, err
	}
	return s, s.seals.load(ctx)
}
