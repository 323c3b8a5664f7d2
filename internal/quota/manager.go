package quota

import (
	"context"
	"errors"

	"github.com/p8-org/p8/store"
)

// Manager shows and sets the quotas of the caller's tenant. The store decides who may.
type Manager struct {
	// Tenant, User and Key are the limits in the settings.
	Tenant, User, Key Limits
	// Store is empty if there is no database yet: then the settings are all there is to list.
	Store store.Quotas
}

// FormError is a text that is no limits.
type FormError struct{ err error }

// Error says what is wrong with the text.
func (e *FormError) Error() string { return e.err.Error() }

// Effective is a quota and the limits that count.
type Effective struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
	// Set is what was set for the subject, "" for nothing; Limits are what counts.
	Set    string `json:"set,omitempty"`
	Limits string `json:"limits"`
}

// List is the quotas of a tenant.
type List struct {
	// Defaults are those of subjects without a quota of their own, by kind.
	Defaults map[string]string `json:"defaults"`
	Quotas   []Effective       `json:"quotas"`
}

func (m *Manager) of(kind string) Limits {
	return map[string]Limits{store.QuotaTenant: m.Tenant, store.QuotaUser: m.User, store.QuotaKey: m.Key}[kind]
}

// List returns the quotas of the tenant.
func (m *Manager) List(ctx context.Context) (List, error) {
	list := List{Defaults: map[string]string{}, Quotas: []Effective{}}
	for _, kind := range kinds {
		list.Defaults[kind] = m.of(kind).String()
	}
	if m.Store == (store.Quotas{}) {
		return list, nil
	}
	stored, err := m.Store.List(ctx)
	for _, q := range stored {
		list.Quotas = append(list.Quotas, m.effective(q.Kind, q.ID, q.Limits))
	}
	return list, err
}

func (m *Manager) effective(kind, id, set string) Effective {
	limits, _ := Parse(set, m.of(kind)) // a text that cannot be read leaves the settings
	return Effective{Kind: kind, ID: id, Set: set, Limits: limits.String()}
}

// Set stores limits, or removes the quota if they are "".
func (m *Manager) Set(ctx context.Context, kind, id, limits string) (Effective, error) {
	if limits == "" {
		return m.effective(kind, id, ""), m.Store.Remove(ctx, kind, id)
	}
	l, err := Parse(limits, Limits{})
	if err == nil && kind == store.QuotaKey && l.Runs > 0 {
		err = errors.New("a key has no limit of runs, which are a tenant's and a user's: leave runs out")
	}
	if err != nil {
		return Effective{}, &FormError{err}
	}
	return m.effective(kind, id, limits), m.Store.Set(ctx, store.Quota{Kind: kind, ID: id, Limits: limits})
}
