package store

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
)

// Meter makes the store count what each tenant and user spends, in the transaction that stores
// it. Until then nothing is counted.
func (s *Store) Meter() { s.metered.Store(true) }

// QuotaDay and QuotaMinute return the numbers of a time's day and minute in UTC, since 1970.
func QuotaDay(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// QuotaMinute is the minute of a time; see QuotaDay.
func QuotaMinute(t time.Time) int64 { return t.Unix() / 60 }

// Servers whose clocks are behind count into the window that others have begun, if it is no
// further ahead than this. One further ahead is of a clock that was wrong, and begins anew.
const (
	QuotaLateMinutes = 60
	QuotaLateDays    = 1
)

// AnyQuota reports whether any tenant has a quota of its own.
func (m Maintenance) AnyQuota(ctx context.Context) (any bool, err error) {
	err = m.read(ctx, "look for quotas", func(c Conn) error {
		any = false
		return c.Query(ctx, `SELECT 1 FROM quotas LIMIT 1`, func(Row) error {
			any = true
			return nil
		})
	})
	return any, err
}

// Standing returns where the caller stands: the quotas and the usage of the tenant, the user and
// the key. A subject without a row of either is left out.
func (q Quotas) Standing(ctx context.Context) (list []QuotaStanding, err error) {
	err = q.store.read(ctx, "read quotas", func(c Conn, by caller) error {
		list, err = standing(ctx, c, by)
		return err
	})
	return list, err
}

func standing(ctx context.Context, c Conn, by caller) (list []QuotaStanding, err error) {
	const own = ` WHERE tenant_id = $1 AND (kind = 'tenant' AND subject = '' OR kind = 'user' AND subject = $2 OR kind = 'key' AND subject = $3 AND $3 <> '')`
	err = c.Query(ctx, `SELECT kind, subject, limits, 0, 0, 0, 0, 0.0 FROM quotas`+own+`
		UNION ALL SELECT kind, subject, '', minute_at, requests, day_at, tokens, cost_usd FROM quota_usage`+own, func(r Row) error {
		var x QuotaStanding
		if err := r.Scan(&x.Kind, &x.ID, &x.Limits, &x.Minute, &x.Requests, &x.Day, &x.Tokens, &x.CostUSD); err != nil {
			return err
		}
		for i := range list {
			if list[i].Kind == x.Kind {
				x.Limits = list[i].Limits // the quota comes before the usage
				list[i] = x
				return nil
			}
		}
		list = append(list, x)
		return nil
	}, by.TenantID, by.payer(), by.KeyID)
	return list, err
}

// Count adds requests that the caller made in a minute: those of the tenant, the user and the
// key. It returns where the caller then stands.
func (q Quotas) Count(ctx context.Context, minute int64, tenant, user, key int64) (list []QuotaStanding, err error) {
	// Readers make requests, too: it is not the caller who writes this.
	err = q.store.run(ctx, "count requests", q.store.engine.Write, func(c Conn, by caller) error {
		for _, u := range []spending{{kind: QuotaTenant, requests: tenant}, {QuotaUser, by.payer(), user}, {QuotaKey, by.KeyID, key}} {
			if u.requests == 0 {
				continue
			}
			if _, err := c.Exec(ctx, `INSERT INTO quota_usage (tenant_id, kind, subject, minute_at, requests) VALUES ($1, $2, $3, $4, $5)
				ON CONFLICT (tenant_id, kind, subject) DO UPDATE SET requests = CASE WHEN quota_usage.minute_at BETWEEN excluded.minute_at AND excluded.minute_at + $6 THEN quota_usage.requests ELSE 0 END + excluded.requests,
				minute_at = CASE WHEN quota_usage.minute_at BETWEEN excluded.minute_at AND excluded.minute_at + $6 THEN quota_usage.minute_at ELSE excluded.minute_at END`,
				by.TenantID, u.kind, u.id, minute, u.requests, int64(QuotaLateMinutes)); err != nil {
				return err
			}
		}
		list, err = standing(ctx, c, by)
		return err
	})
	return list, err
}

// spending is the requests of a subject.
type spending struct {
	kind, id string
	requests int64
}

// Spend counts what the caller spent outside of any session.
func (q Quotas) Spend(ctx context.Context, tokens int, costUSD float64) error {
	return q.store.run(ctx, "count tokens", q.store.engine.Write, func(c Conn, by caller) error {
		return q.store.spend(ctx, c, by, "", tokens, costUSD, q.store.clock())
	})
}

// spend adds tokens and dollars to what the tenant, the user and the key have used today. All
// writers take the rows in one order. run is the run that spent them, "" outside of any.
func (s *Store) spend(ctx context.Context, c Conn, by caller, run string, tokens int, usd float64, now time.Time) error {
	if !s.metered.Load() || tokens == 0 && usd == 0 {
		return nil
	}
	sql, args := spendSQL, append(make([]any, 0, 7), by.TenantID, by.payer(), QuotaDay(now), tokens, usd, run)
	if run != "" {
		args[1] = by.Identity.Payer() // unless the run has an author, whoever ends it
	}
	if by.KeyID != "" && by.KeyID != identity.DeploymentKey {
		sql, args = spendKeySQL, append(args, by.KeyID)
	}
	return c.Later(ctx, Statement{SQL: sql, Args: args})
}

const (
	spendInto  = `INSERT INTO quota_usage (tenant_id, kind, subject, day_at, tokens, cost_usd) VALUES `
	spendBoth  = `($1, 'tenant', '', $3, $4, $5), ($1, 'user', ` + spendPayer + `, $3, $4, $5)`
	spendPayer = `COALESCE((SELECT author FROM runs WHERE tenant_id = $1 AND id = $6), $2)`
	spendSum   = ` ON CONFLICT (tenant_id, kind, subject) DO UPDATE SET
		tokens = CASE WHEN ` + sameDay + ` THEN quota_usage.tokens ELSE 0 END + excluded.tokens,
		cost_usd = CASE WHEN ` + sameDay + ` THEN quota_usage.cost_usd ELSE 0 END + excluded.cost_usd,
		day_at = CASE WHEN ` + sameDay + ` THEN quota_usage.day_at ELSE excluded.day_at END`
	sameDay     = `quota_usage.day_at BETWEEN excluded.day_at AND excluded.day_at + 1` // QuotaLateDays
	spendSQL    = spendInto + spendBoth + spendSum
	spendKeySQL = spendInto + spendBoth + `, ($1, 'key', $7, $3, $4, $5)` + spendSum
)

// PruneQuotaUsage deletes counts of minutes and days before a time. Each call deletes some
// thousand; it returns how many.
func (m Maintenance) PruneQuotaUsage(ctx context.Context, before time.Time) (n int64, err error) {
	err = m.write(ctx, "prune quotas", func(c Conn) error {
		const old = `day_at < $1 AND minute_at < $2`
		n, err = c.Exec(ctx, `DELETE FROM quota_usage WHERE `+old+` AND (tenant_id, kind, subject) IN
			(SELECT tenant_id, kind, subject FROM quota_usage WHERE `+old+` LIMIT $3)`, QuotaDay(before), QuotaMinute(before), pruneAccess)
		return err
	})
	return n, err
}
