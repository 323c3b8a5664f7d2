// Package peer runs a command where its data is. An embedded database belongs to one
// process; if that is a running server, the command becomes an HTTP request to it.
// [At] chooses between the two, [Read] does so for commands that only read.
package peer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/datadir"
	"github.com/p8-org/p8/cmd/p8/internal/logins"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/signin"
)

// Elsewhere has the flag that names a running server.
type Elsewhere struct {
	Server string `help:"Use this running server instead of the database (P8_SERVER_URL). A server that has the embedded database is found without it." placeholder:"URL"`
}

// Server sends requests to a running server with the identity of a user.
type Server struct {
	base *url.URL
	id   identity.Identity
	// token is sent as it is; without one, grant has the user's login, nil for none.
	token string
	grant *signin.Grant
	// hints: a refusal also says how to sign in.
	hints bool
	http  *http.Client
	// Patience is the longest that a response may take; [peerTimeout] if 0.
	Patience time.Duration
}

// Open returns the server that the flag or P8_SERVER_URL names, with the token of the
// settings or the user's login; nil for none.
func (e Elsewhere) Open(ctx context.Context, a *command.App) (*Server, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	text := cmp.Or(e.Server, cfg.ServerURL)
	if text == "" {
		return nil, nil
	}
	// The deployment's own key is not for servers that the user names.
	return newServer(ctx, cfg, text, "")
}

// To returns the server at an address, as [Elsewhere.Open] does; the one that has the data
// folder also gets P8_API_KEY, as from [At].
func To(ctx context.Context, cfg *config.Config, base *url.URL) (*Server, error) {
	key := ""
	if base.String() == datadir.Server(cfg) && datadir.Held(cfg) {
		key = cfg.APIKey
	}
	return newServer(ctx, cfg, base.String(), key)
}

// Signed reports whether the server knows the caller by a token, and not by --user and --tenant.
func (r *Server) Signed() bool { return r.token != "" || r.grant != nil }

// AsTenant returns the server with requests that do not name a tenant in a header: the address
// of the route does.
func (r *Server) AsTenant() *Server {
	unnamed := *r
	unnamed.id.TenantID = ""
	return &unnamed
}

// WithToken returns a server that gets a token, "" for none, and no user.
func WithToken(base *url.URL, token string) *Server {
	return &Server{base: base, token: token, http: &http.Client{CheckRedirect: sameServer}}
}

// owner returns the server that has the data folder if err is a [wiring.InUse], else
// err.
func owner(ctx context.Context, cfg *config.Config, err error) (*Server, error) {
	var taken *wiring.InUse
	at := ""
	if errors.As(err, &taken) {
		at = datadir.Server(cfg)
	}
	if at == "" {
		return nil, err
	}
	return newServer(ctx, cfg, at, cfg.APIKey)
}

// newServer returns a server with the token of the settings, or else the user's login there,
// or else key.
func newServer(ctx context.Context, cfg *config.Config, text, key string) (*Server, error) {
	base, err := datadir.ServerURL(text)
	if err != nil {
		return nil, err
	}
	id, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{base: base, id: id, token: cfg.ServerToken, hints: cfg.ServerToken == "", http: &http.Client{CheckRedirect: sameServer}}
	if s.token != "" {
		return s, nil
	}
	files, login, err := Stored(cfg, base)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the login at %s cannot be used, as %w: `p8 logout %s` forgets it", base, err, base)
	case login == nil:
		s.token = key
		return s, nil
	case id.UserID != "" || id.TenantID != identity.DefaultTenant:
		return nil, command.Usage("--user and --tenant cannot be used at %s, where you are signed in: leave them out, or `p8 logout %s` first", base, base)
	}
	s.grant = signin.NewGrant(Person(ctx), files, signin.Client(http.DefaultTransport), *login)
	return s, nil
}

// sameServer follows no redirect to another server, which would get the token.
func sameServer(req *http.Request, via []*http.Request) error {
	if !signin.SameOrigin(req.URL, via[0].URL) {
		return signin.ErrForeign
	}
	return nil
}

// Person returns a context with whom logins at p8 servers belong to: the user of the data
// folder, whoever --user names.
func Person(ctx context.Context) context.Context {
	return identity.With(ctx, identity.Identity{})
}

// Stored returns the login at the server at an address, nil for none, and where it is kept.
func Stored(cfg *config.Config, base *url.URL) (*logins.Files, *signin.Login, error) {
	files := logins.ForP8(cfg.DataDir, cfg.SecretKey)
	login, err := files.Login(Person(context.Background()), base.String())
	return files, login, err
}

// The bounds of a request to a server.
const (
	peerTimeout = time.Minute
	maxPeerBody = 32 << 20
)

// Do sends a request and decodes the response into out, which may be nil. The error of a
// refused request has the text of the server.
func (r *Server) Do(ctx context.Context, method, path string, query url.Values, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.Patience, peerTimeout))
	defer cancel()
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	at := r.base.JoinPath(path)
	at.RawQuery = query.Encode()
	res, err := r.accepted(ctx, method, at.String(), raw)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxPeerBody))
	if err == nil {
		if out == nil || len(answer) == 0 {
			return nil
		}
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return r.strange()
	}
	return nil
}

// Download writes the response to a GET request, of any length.
func (r *Server) Download(ctx context.Context, path string, w io.Writer) error {
	res, err := r.accepted(ctx, http.MethodGet, r.base.JoinPath(path).String(), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the server at %s ended its response early: try again", r.base.Redacted())
	} else if err != nil {
		return err
	}
	return nil
}

// accepted sends a request; a refused one is an error with the text of the server.
func (r *Server) accepted(ctx context.Context, method, at string, body []byte) (*http.Response, error) {
	res, err := r.send(ctx, method, at, body)
	if err != nil || res.StatusCode < http.StatusMultipleChoices {
		return res, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxPeerBody))
	if err != nil {
		return nil, r.strange()
	}
	err = refusal(r.base, res.StatusCode, answer)
	if challenged(res) && r.hints {
		err = &UnsignedError{err, r.base.String()}
	}
	return nil, err
}

// strange is the error of a server that is no p8.
func (r *Server) strange() error {
	return fmt.Errorf("the server at %s does not answer as p8 does: check its address", r.base.Redacted())
}

// send sends a request; it renews a refused login once.
func (r *Server) send(ctx context.Context, method, at string, body []byte) (*http.Response, error) {
	for again := false; ; again = true {
		req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if err := r.sign(req); err != nil {
			return nil, r.ended(err)
		}
		res, err := r.http.Do(req)
		switch {
		case errors.Is(err, signin.ErrForeign):
			return nil, fmt.Errorf("the server at %s points to another host, which p8 does not follow", r.base.Redacted())
		case r.distrust(err) != nil:
			return nil, r.distrust(err)
		case err != nil:
			return nil, fmt.Errorf("the server at %s does not answer: start it with `p8 serve`, or name another with --server", r.base.Redacted())
		case !challenged(res) || r.grant == nil || again:
			return res, nil
		}
		res.Body.Close()
		if err := r.grant.Renew(req); err != nil {
			return nil, r.ended(err)
		}
	}
}

// sign adds the caller: the token or the login, and the headers that a server without
// authentication believes.
func (r *Server) sign(req *http.Request) error {
	tenant := r.id.TenantID
	if tenant == identity.DefaultTenant {
		tenant = "" // a server that takes P8_API_KEY refuses the header
	}
	for name, value := range map[string]string{
		identity.HeaderUserID: r.id.UserID, identity.HeaderUserEmail: r.id.Email, identity.HeaderTenantID: tenant,
		"Content-Type": "application/json", identity.HeaderClientID: "cli",
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	switch {
	case r.token != "":
		req.Header.Set("Authorization", "Bearer "+r.token)
	case r.grant != nil:
		return r.grant.Sign(req)
	}
	return nil
}

// ended returns the error of a login that gave no token.
func (r *Server) ended(err error) error {
	if errors.As(err, new(*signin.EndedError)) {
		return fmt.Errorf("your login at %s has ended: sign in again with `p8 login %s`", r.base, r.base)
	}
	return fmt.Errorf("your login at %s cannot be renewed now, as the identity provider gives no token: try again", r.base)
}

// SetNonEmpty sets the parameters that have a value.
func SetNonEmpty(q url.Values, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
}
