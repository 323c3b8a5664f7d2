package store

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
)

// Bounds of one transaction of EncryptRows.
const (
	sealRows  = 200
	sealBytes = 4 << 20
)

// sealKeys are the columns that name a row of a tenant, where they are more than id.
var sealKeys = map[string][]string{
	"run_events":         {"run_id", "first_seq"},
	"run_journal":        {"run_id", "seq"},
	"evaluation_results": {"evaluation_id", "seq"},
	"kv_store":           {"owner", "entity_key", "entity_type"},
}

// EncryptRows seals what the tenants that are to be encrypted wrote before, in small
// transactions, and counts the rows. It may be interrupted, and repeated: it skips sealed rows.
// Others may write meanwhile. each is called after each table of a tenant. At the end it removes
// what was there from the file of an embedded database.
func (m Maintenance) EncryptRows(ctx context.Context, each func(tenant, table string, rows int64)) (rows int64, err error) {
	z := m.store.seals
	if z == nil {
		return 0, invalidf("there is no key to encrypt with")
	}
	tenants, err := m.tenants(ctx)
	if err != nil {
		return 0, err
	}
	for _, tenant := range tenants {
		if !z.wants(tenant) {
			continue
		}
		k, err := z.of(ctx, tenant, true)
		if err != nil {
			return rows, fail("make a data key", err)
		}
		for _, h := range Holdings() {
			if sealedColumns[h.Table] == nil {
				continue
			}
			n, err := m.sealTable(ctx, k, h.Table)
			if rows += n; err != nil {
				return rows, err
			}
			each(tenant, h.Table, n)
		}
	}
	if e, ok := m.store.engine.(Scrubber); ok && rows > 0 {
		err = fail("remove what was encrypted from the file", e.Scrub(ctx))
	}
	return rows, err
}

// tenants lists those that have rows to seal.
func (m Maintenance) tenants(ctx context.Context) (list []string, err error) {
	err = m.read(ctx, "list tenants", func(c Conn) error {
		list = nil
		for table := range sealedColumns {
			if err := c.Query(ctx, `SELECT DISTINCT tenant_id FROM `+table, func(r Row) error {
				list = append(list, "")
				return r.Scan(&list[len(list)-1])
			}); err != nil {
				return err
			}
		}
		return nil
	})
	slices.Sort(list)
	return slices.Compact(list), err
}

// sealTable seals the rows of a tenant in a table.
func (m Maintenance) sealTable(ctx context.Context, k *tenantSeal, table string) (rows int64, err error) {
	x := newRowSealer(m.store, k, table)
	for more := true; more; {
		var n int64
		var last []any
		// The connection does not open what it reads.
		if err := m.store.engine.WriteSystem(ctx, func(c Conn) (err error) {
			n, last, more, err = x.batch(ctx, c)
			return err
		}); err != nil {
			return rows, fail("encrypt "+table, err)
		}
		rows, x.after = rows+n, last
	}
	return rows, nil
}

// RotateDataKeys wraps the data keys anew that another master key than the first has wrapped.
// It counts them, and those that had the first one.
func (m Maintenance) RotateDataKeys(ctx context.Context) (rotated, same int, err error) {
	z := m.store.seals
	if z == nil {
		return 0, 0, nil
	}
	keys, err := dataKeys(ctx, z.engine)
	if err != nil {
		return 0, 0, fail("read data keys", err)
	}
	for _, k := range keys {
		b, err := base64.StdEncoding.DecodeString(k.wrapped)
		if err != nil {
			return rotated, same, fail("read a data key", err)
		}
		raw, old, err := z.Master.Unwrap(ctx, k.tenant, b)
		if err != nil {
			return rotated, same, fmt.Errorf("the data key of the tenant %q: %w", k.tenant, err)
		}
		if !old {
			same++
			continue
		}
		if b, err = z.Master.Wrap(ctx, k.tenant, raw); err != nil {
			return rotated, same, fmt.Errorf("wrap the data key of the tenant %q: %w", k.tenant, err)
		}
		if err := m.write(ctx, "store a data key", func(c Conn) error {
			_, err := c.Exec(ctx, `UPDATE data_keys SET wrapped = $2 WHERE tenant_id = $1`, k.tenant, base64.StdEncoding.EncodeToString(b))
			return err
		}); err != nil {
			return rotated, same, err
		}
		rotated++
	}
	return rotated, same, nil
}
