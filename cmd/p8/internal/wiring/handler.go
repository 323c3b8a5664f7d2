package wiring

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/trace"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// Handler returns the HTTP API.
func (p *Parts) Handler(cfg *config.Config, callers *auth.Authenticator) *api.Handler {
	p.callers.Store(callers)
	o := api.Options{
		Chat: p.Chat, Catalog: p.Catalog, Auth: callers, PublicURL: cfg.PublicURL,
		Models:  func(context.Context) []string { return []string{p.Choice.Model} },
		Hosts:   slices.Concat(cfg.AllowedHosts, cfg.ACMEDomains),
		Origins: cfg.AllowedOrigins,
		CORS:    cfg.CORSOrigins,
		Tools:   p.box.Names,
		MaxBody: int64(cfg.MaxBodyBytes), Version: command.Version(), Telemetry: p.observer.Telemetry, Logger: p.Log,
	}
	if p.observer.meter != nil {
		o.Meter = p.observer.meter
	}
	if _, _, own := cfg.MetricsAddress(); !own {
		o.Metrics = p.Metrics()
	}
	if p.keeper != nil {
		o.Admit, o.AdmitStranger, o.Proxies = p.keeper.Admit, p.keeper.AdmitStranger, cfg.Proxies()
	}
	if p.quotas != nil {
		o.Quotas = p.quotas
	}
	if p.MCP != nil {
		o.MCP = p.MCP.Handler()
	}
	if p.A2A != nil {
		o.A2A = p.A2A
	}
	if p.asked != nil {
		o.Embeddings = p.asked
	}
	if p.Store != nil {
		o.Store, o.Files, o.Ready = documents{p.Store, p.Catalog, p.MCP}, p.Store.Files(), p.Store.Maintenance().Check
		o.Knowledge, o.Asker, o.Ingest = p.engine, p.asker, p.Ingest
		o.Shares, o.ShareLinks = doors{p.Store}, cfg.ShareLinks
		o.MaxUpload = int64(cfg.MaxUploadBytes)
		o.Brancher, o.Usage, o.Traces = p.Chat, p.Store, trace.Reader{Store: p.Store}
		o.Preview, o.Diary, o.Moments, o.Pieces = p.Chat, p.Store.Diary(), p.Store.Moments(), p.Store.Resources()
		o.Zone = Zone(p.Store, p.Log)
		o.Accounts, o.Logins = account.New(account.Options{Store: p.Store, Changed: callers.Forget, Logger: p.Log}), cfg.AuthKeys
	}
	if p.feedback != nil {
		o.Feedback = p.feedback
	}
	if p.Privacy != nil {
		o.Privacy = p.Privacy
	}
	if p.builder != nil {
		o.Builder, o.Reminders, o.Dreams, o.Jobs = p.builder, p.reminders, p.dreams, p.Work
		o.Recorder = func(ctx context.Context, u memory.Upload) (string, store.Moment, error) {
			return memory.RecordUpload(ctx, p.Store, u)
		}
	}
	return api.New(o)
}

// doors opens shared sessions.
type doors struct{ *store.Store }

// OpenLink opens the session of a link.
func (d doors) OpenLink(ctx context.Context, secret string) (identity.Identity, store.Share, error) {
	return d.Maintenance().OpenLink(ctx, secret)
}

// Callers returns what verifies callers. Without a setting for it everybody is let in, and
// identity headers count: such a server binds loopback addresses only.
func Callers(cfg *config.Config, s *store.Store, log *slog.Logger) (*auth.Authenticator, error) {
	claims := auth.Claims{
		User: cfg.AuthUser, Tenant: cfg.AuthTenant, Roles: cfg.AuthRoles,
		Role: identity.Role(cfg.AuthRole), RoleOf: map[string]identity.Role{}, DefaultTenant: cfg.AuthNoTenant,
	}
	if claims.DefaultTenant == "none" {
		claims.DefaultTenant = ""
	}
	for _, pair := range cfg.AuthRoleNames {
		name, role, _ := strings.Cut(pair, "=")
		claims.RoleOf[strings.TrimSpace(name)] = identity.Role(strings.TrimSpace(role))
	}
	var keys auth.Keys
	if cfg.AuthKeys {
		keys = account.Keys{Store: s}
	}
	return auth.New(auth.Options{
		Keys: keys, Secret: cfg.AuthSecret, KeySets: cfg.AuthKeySets, Algorithms: cfg.AuthAlgorithms,
		Issuer: cfg.AuthIssuer, Audience: cfg.AuthAudience, Leeway: cfg.AuthSkew, Claims: claims,
		ClientID: cfg.LoginClientID, Scopes: cfg.LoginScopes,
		Key: cfg.APIKey, TrustHeaders: cfg.TrustIdentity, Gateways: cfg.TLSClientCA != "", Visitors: cfg.AuthAnonymous, Open: true, Logger: log,
	})
}
