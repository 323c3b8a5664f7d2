package store

import (
	"context"
	"slices"
	"time"

	"github.com/p8-org/p8/identity"
)

// The kinds of what a tenant keeps for a time; see [Maintenance.Expire].
const (
	KeepSessions  = "sessions"
	KeepMoments   = "moments"
	KeepResources = "resources"
	KeepFeedback  = "feedback"
	KeepAudit     = "audit"
)

// KeptKinds lists the kinds.
func KeptKinds() []string {
	return []string{KeepSessions, KeepMoments, KeepResources, KeepFeedback, KeepAudit}
}

// Retention is how long a tenant keeps what is of a kind, where that differs from the settings.
type Retention struct {
	TenantID string `json:"-"`
	Kind     string `json:"kind"`
	// Keep is counted in seconds; 0 is for ever.
	Keep      time.Duration `json:"-"`
	UpdatedAt time.Time     `json:"updated_at"`
}

// Retentions say how long the caller's tenant keeps its rows.
type Retentions struct{ store *Store }

// Retentions returns how long the caller's tenant keeps its rows.
func (s *Store) Retentions() Retentions { return Retentions{s} }

// Set stores how long the tenant keeps what is of a kind; 0 is for ever. Only the deployment
// may.
func (r Retentions) Set(ctx context.Context, kind string, keep time.Duration) error {
	switch {
	case !slices.Contains(KeptKinds(), kind):
		return missingFirst(ctx, invalidf("%.32q is no kind of rows that are kept for a time", kind))
	case keep < 0 || keep > 0 && keep < time.Second:
		return missingFirst(ctx, invalidf("rows are kept for a second or longer, or for ever"))
	}
	return r.store.write(ctx, "set a retention", func(c Conn, by caller) error {
		if err := mayRetain(by.Identity); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, `INSERT INTO retentions (tenant_id, kind, seconds, updated_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (tenant_id, kind) DO UPDATE SET seconds = excluded.seconds, updated_at = excluded.updated_at`,
			by.TenantID, kind, int64(keep/time.Second), r.store.clock()); err != nil {
			return err
		}
		return r.store.audit(ctx, c, by.Identity, AuditRetention, kind, AuditOK)
	})
}

// Remove lets the settings count again. It is ErrNotFound if the tenant has no retention of its
// own of that kind.
func (r Retentions) Remove(ctx context.Context, kind string) error {
	return r.store.write(ctx, "remove a retention", func(c Conn, by caller) error {
		if err := mayRetain(by.Identity); err != nil {
			return err
		}
		n, err := c.Exec(ctx, `DELETE FROM retentions WHERE tenant_id = $1 AND kind = $2`, by.TenantID, storable(kind))
		if err == nil && n == 0 {
			err = notFound("retention of", kind)
		}
		if err != nil {
			return err
		}
		return r.store.audit(ctx, c, by.Identity, AuditRetentionReset, kind, AuditOK)
	})
}

// List returns those of the tenant by kind, for its admins.
func (r Retentions) List(ctx context.Context) (list []Retention, err error) {
	err = r.store.read(ctx, "list retentions", func(c Conn, by caller) (err error) {
		if err := mayLimit(by.Identity, QuotaUser); err != nil {
			return forbiddenf("only an admin may see how long rows are kept")
		}
		list, err = retentions(ctx, c, ` WHERE tenant_id = $1`, by.TenantID)
		return err
	})
	return list, err
}

// Retentions lists those of all tenants.
func (m Maintenance) Retentions(ctx context.Context) (list []Retention, err error) {
	err = m.read(ctx, "list retentions", func(c Conn) (err error) {
		list, err = retentions(ctx, c, ``)
		return err
	})
	return list, err
}

func retentions(ctx context.Context, c Conn, where string, args ...any) (list []Retention, err error) {
	err = c.Query(ctx, `SELECT tenant_id, kind, seconds, updated_at FROM retentions`+where+` ORDER BY tenant_id, kind`, func(r Row) error {
		var x Retention
		var seconds int64
		err := r.Scan(&x.TenantID, &x.Kind, &seconds, &x.UpdatedAt)
		x.Keep = time.Duration(seconds) * time.Second
		list = append(list, x)
		return err
	}, args...)
	return list, err
}

// mayRetain returns ErrForbidden unless the caller is the deployment: what is deleted is that
// of all users of the tenant.
func mayRetain(by identity.Identity) error {
	if mayLimit(by, QuotaTenant) != nil {
		return forbiddenf("only the deployment may say how long rows are kept")
	}
	return nil
}
