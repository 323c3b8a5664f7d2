package wiring

import (
	"context"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/store"
)

// Quotas returns what shows and sets the quotas in a store, nil if there is none yet.
func Quotas(cfg *config.Config, s *store.Store) (*quota.Manager, error) {
	m := &quota.Manager{Store: s.Quotas()}
	return m, limitsOf(cfg, &m.Tenant, &m.User, &m.Key)
}

// limitsOf reads the limits in the settings.
func limitsOf(cfg *config.Config, tenant, user, key *quota.Limits) (err error) {
	for _, s := range []struct {
		name, text string
		limits     *quota.Limits
	}{{"P8_QUOTA_TENANT", cfg.QuotaTenant, tenant}, {"P8_QUOTA_USER", cfg.QuotaUser, user}, {"P8_QUOTA_KEY", cfg.QuotaKey, key}} {
		if *s.limits, err = quota.Parse(s.text, quota.Limits{}); err != nil {
			return &config.Error{Name: s.name, Value: s.text, Problem: "is not valid", Mend: "give " + quota.Form}
		}
	}
	if key.Runs > 0 {
		return &config.Error{Name: "P8_QUOTA_KEY", Value: cfg.QuotaKey, Problem: "limits runs, which are a tenant's and a user's", Mend: "give limits without runs, such as requests=60,tokens=2M,usd=5"}
	}
	return nil
}

// newKeeper makes what counts the usage of a server's callers. s is nil without a database.
func newKeeper(cfg *config.Config, s *store.Store, o Options) (*quota.Keeper, error) {
	q := quota.Options{Now: o.Now, Logger: o.Log}
	if err := limitsOf(cfg, &q.Tenant, &q.User, &q.Key); err != nil {
		return nil, err
	}
	address, err := quota.Parse(cfg.QuotaAddress, quota.Limits{})
	if address.Runs+address.Tokens > 0 || address.USD > 0 || err != nil {
		return nil, &config.Error{Name: "P8_QUOTA_ADDRESS", Value: cfg.QuotaAddress, Problem: "is not a limit of requests", Mend: "give a limit such as requests=60"}
	}
	q.Address = address.Requests
	if s != nil {
		q.Store = quota.Over(s)
	}
	return quota.New(q), nil
}

// admit is the keeper in chat's terms.
func admit(k *quota.Keeper) func(context.Context, bool) (chat.Account, error) {
	return func(ctx context.Context, again bool) (chat.Account, error) {
		l, err := k.Begin(ctx, again)
		if err != nil || l == nil {
			return chat.Account{}, err
		}
		return chat.Account{Allowed: l.Allowed(), Refused: l.Refused, Meter: l.Meter, End: func(u event.UsageData) {
			l.End(u.InputTokens+u.OutputTokens, u.CostUSD)
		}}, nil
	}
}
