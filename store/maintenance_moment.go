package store

import "context"

// momentBatch is how many rows one transaction of TimeMoments writes.
const momentBatch = 1000

// TimeMoments sets starts_timestamp of the moments that an older program stored without it,
// to the end of each, else to its creation, and counts them. Each batch is a transaction of
// its own, so that nobody waits for a large table. If there are none, it reads one index.
func (m Maintenance) TimeMoments(ctx context.Context) (timed int64, err error) {
	const untimed = `SELECT tenant_id, id FROM moments WHERE starts_timestamp IS NULL ORDER BY tenant_id, id LIMIT $1`
	some := false
	if err := m.read(ctx, "look for moments without a time", func(c Conn) (err error) {
		some, err = one(ctx, c, untimed, []any{new(string), new(string)}, 1)
		return err
	}); err != nil || !some {
		return 0, err
	}
	for n := int64(1); n > 0; timed += n {
		if err := m.write(ctx, "give moments their time", func(c Conn) (err error) {
			n, err = c.Exec(ctx, `UPDATE moments SET starts_timestamp = COALESCE(ends_timestamp, created_at)
				WHERE starts_timestamp IS NULL AND (tenant_id, id) IN (`+untimed+m.store.dialect.lock()+`)`, momentBatch)
			return err
		}); err != nil {
			return timed, err
		}
	}
	return timed, nil
}
