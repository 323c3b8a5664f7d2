package store

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
)

// The kinds of subjects that quotas are for.
const (
	QuotaTenant = "tenant"
	QuotaUser   = "user"
	QuotaKey    = "key"
)

// Quota is what a subject may use, where that differs from the settings.
type Quota struct {
	// Kind is tenant, user or key. ID is that of the user or the key; "" is the tenant itself,
	// or all of its anonymous callers together.
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
	// Limits are text, as in the settings: "requests=60,tokens=1M".
	Limits    string    `json:"limits"`
	UpdatedAt time.Time `json:"updated_at"`
}

// QuotaStanding is a subject's quota, and what the subject has used.
type QuotaStanding struct {
	Kind, ID string
	// Limits are "" if the settings count.
	Limits string
	// Requests were made in the minute Minute; Tokens and CostUSD were spent on the day Day, in
	// UTC. Both are counted from 1970.
	Minute, Requests int64
	Day, Tokens      int64
	CostUSD          float64
}

// Quotas are the quotas of the caller's tenant.
type Quotas struct{ store *Store }

// Quotas returns the quotas of the caller's tenant.
func (s *Store) Quotas() Quotas { return Quotas{s} }

// maxLimits bounds the text of a quota.
const maxLimits = 256

// Set stores a quota. An admin sets those of users and keys, the deployment also the tenant's.
func (q Quotas) Set(ctx context.Context, x Quota) error {
	if err := firstError(checkSubject(x.Kind, x.ID)); err != nil {
		return missingFirst(ctx, err)
	}
	if !printable(x.Limits, maxLimits) {
		return missingFirst(ctx, invalidf("the limits of a quota must be 1-%d printable characters", maxLimits))
	}
	return q.store.write(ctx, "set a quota", func(c Conn, by caller) error {
		if err := mayLimit(by.Identity, x.Kind); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `INSERT INTO quotas (tenant_id, kind, subject, limits, updated_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant_id, kind, subject) DO UPDATE SET limits = excluded.limits, updated_at = excluded.updated_at`,
			by.TenantID, x.Kind, x.ID, x.Limits, q.store.clock())
		if err != nil {
			return err
		}
		return q.store.audit(ctx, c, by.Identity, AuditQuota, x.Kind+" "+x.ID, AuditOK)
	})
}

// Remove lets the settings count again. It is ErrNotFound if the subject has no quota of its own.
func (q Quotas) Remove(ctx context.Context, kind, id string) error {
	if err := checkSubject(kind, id); err != nil {
		return missingFirst(ctx, err)
	}
	return q.store.write(ctx, "remove a quota", func(c Conn, by caller) error {
		if err := mayLimit(by.Identity, kind); err != nil {
			return err
		}
		n, err := c.Exec(ctx, `DELETE FROM quotas WHERE tenant_id = $1 AND kind = $2 AND subject = $3`, by.TenantID, kind, id)
		if err == nil && n == 0 {
			err = notFound("quota of the "+kind, id)
		}
		if err != nil {
			return err
		}
		return q.store.audit(ctx, c, by.Identity, AuditQuotaReset, kind+" "+id, AuditOK)
	})
}

// List returns the quotas of the tenant, by kind and id, for its admins.
func (q Quotas) List(ctx context.Context) ([]Quota, error) {
	list := []Quota{}
	err := q.store.read(ctx, "list quotas", func(c Conn, by caller) error {
		list = list[:0]
		if err := mayLimit(by.Identity, QuotaUser); err != nil {
			return err
		}
		return c.Query(ctx, `SELECT kind, subject, limits, updated_at FROM quotas WHERE tenant_id = $1 ORDER BY kind, subject LIMIT 10000`, func(r Row) error {
			var x Quota
			err := r.Scan(&x.Kind, &x.ID, &x.Limits, &x.UpdatedAt)
			list = append(list, x)
			return err
		}, by.TenantID)
	})
	return list, err
}

// checkSubject checks the kind and the id of a subject.
func checkSubject(kind, id string) error {
	switch {
	case kind == QuotaTenant && id != "":
		return invalidf("the quota of a tenant names no other subject")
	case kind == QuotaKey && id == "":
		return invalidf("the quota of a key needs the key's id")
	case kind != QuotaTenant && kind != QuotaUser && kind != QuotaKey:
		return invalidf("%.32q has no quota; tenants, users and keys have one", kind)
	case id != "" && !printable(id, maxName):
		return invalidf("the id of a %s must be 1-%d printable characters", kind, maxName)
	}
	return nil
}

// mayLimit returns ErrForbidden if the caller may not manage quotas of a kind. The tenant's own
// quota is the deployment's to set, or anybody's without authentication: it is what the tenant
// was given.
func mayLimit(by identity.Identity, kind string) error {
	switch {
	case by.Operates(), by.Role == identity.RoleAdmin && kind != QuotaTenant:
		return nil
	case by.Role == identity.RoleAdmin:
		return forbiddenf("a tenant's own quota is set with the deployment's key")
	}
	return forbiddenf("only an admin may see and set quotas")
}
