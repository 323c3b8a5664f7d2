package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// Experiment is a configuration of evaluations that a user keeps under a name.
type Experiment struct {
	ID       string `json:"id"`
	TenantID string `json:"-"`
	UserID   string `json:"user_id,omitempty"`
	// Name is made of lower-case letters, digits and hyphens. It is the caller's own: another
	// user's experiment may have the same.
	Name   string `json:"name"`
	Status string `json:"status"`
	// Config is a JSON object, which the store does not read.
	Config    json.RawMessage `json:"config"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	LastRunAt time.Time       `json:"last_run_at,omitzero"`
}

const experimentColumns = `tenant_id, id, user_id, name, status, config, created_at, updated_at, last_run_at`

func (x *Experiment) columns() []any {
	return []any{&x.TenantID, &x.ID, &x.UserID, &x.Name, &x.Status, &x.Config, &x.CreatedAt, &x.UpdatedAt, &x.LastRunAt}
}

// Experiments are the caller's experiments.
type Experiments struct{ store *Store }

// Experiments returns the caller's experiments.
func (s *Store) Experiments() Experiments { return Experiments{s} }

// Put stores an experiment, and replaces the caller's one of that name.
func (e Experiments) Put(ctx context.Context, x *Experiment) error {
	if err := x.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return e.store.write(ctx, "store an experiment", func(c Conn, by caller) error {
		now := e.store.clock()
		x.ID, x.TenantID, x.UserID = EntityID("experiments", x.Name, by.keyOwner()), by.TenantID, by.UserID
		x.CreatedAt, x.UpdatedAt = now, now
		_, err := one(ctx, c, `INSERT INTO experiments (`+experimentColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (tenant_id, id) DO UPDATE SET status = excluded.status, config = excluded.config, updated_at = excluded.updated_at,
				last_run_at = excluded.last_run_at
			RETURNING created_at`, []any{&x.CreatedAt},
			by.TenantID, x.ID, by.user, x.Name, x.Status, x.Config, now, now, timeOrNull(x.LastRunAt))
		return err
	})
}

func (x *Experiment) check() error {
	// Without a colon in it, no two owners and names make the same id.
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	if !printable(x.Name, maxName) || strings.ContainsFunc(x.Name, other) {
		return invalidf("the name of an experiment is made of lower-case letters, digits and hyphens, not %.64q", x.Name)
	}
	if !printable(x.Status, maxName) {
		return invalidf("the status of an experiment must be 1-%d printable characters", maxName)
	}
	if len(x.Config) == 0 {
		x.Config = json.RawMessage(`{}`)
	}
	x.LastRunAt = x.LastRunAt.UTC().Truncate(time.Microsecond)
	return checkObject("config", &x.Config)
}

// Get returns the caller's experiment of a name.
func (e Experiments) Get(ctx context.Context, name string) (x Experiment, err error) {
	err = e.store.read(ctx, "read an experiment", func(c Conn, by caller) error {
		q := newQuery(`SELECT ` + experimentColumns + ` FROM experiments WHERE tenant_id = `)
		q.arg(by.TenantID)
		q.owned(by.user)
		q.add(` AND name = `).arg(storable(name))
		found, err := one(ctx, c, q.String(), x.columns(), q.args...)
		if err == nil && !found {
			err = notFound("experiment", name)
		}
		return err
	})
	return x, err
}

// maxExperiments bounds a list of experiments.
const maxExperiments = 1000

// List lists the caller's experiments by name, the first 1000.
func (e Experiments) List(ctx context.Context) (list []Experiment, err error) {
	err = e.store.read(ctx, "list experiments", func(c Conn, by caller) error {
		q := newQuery(`SELECT ` + experimentColumns + ` FROM experiments WHERE tenant_id = `)
		q.arg(by.TenantID)
		q.owned(by.user)
		q.add(` ORDER BY name LIMIT `).arg(maxExperiments)
		list = nil
		return c.Query(ctx, q.String(), func(r Row) error {
			list = append(list, Experiment{})
			return r.Scan(list[len(list)-1].columns()...)
		}, q.args...)
	})
	return list, err
}

// Delete deletes the caller's experiment of a name; its evaluations stay.
func (e Experiments) Delete(ctx context.Context, name string) error {
	return e.store.write(ctx, "delete an experiment", func(c Conn, by caller) error {
		q := newQuery(`DELETE FROM experiments WHERE tenant_id = `)
		q.arg(by.TenantID)
		q.owned(by.user)
		q.add(` AND name = `).arg(storable(name))
		n, err := c.Exec(ctx, q.String(), q.args...)
		if err == nil && n == 0 {
			err = notFound("experiment", name)
		}
		return err
	})
}
