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
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/datadir"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
)

// Elsewhere has the flag that names a running server.
type Elsewhere struct {
	Server string `help:"Use this running server instead of the database (P8_SERVER_URL). A server that has the embedded database is found without it." placeholder:"URL"`
}

// Server sends requests to a running server with the identity of a user.
type Server struct {
	base  *url.URL
	id    identity.Identity
	token string
	// Patience is the longest that a response may take; [peerTimeout] if 0.
	Patience time.Duration
}

// peer returns the server that the flag or P8_SERVER_URL names, nil for none.
func (e Elsewhere) peer(ctx context.Context, a *command.App) (*Server, error) {
	text := cmp.Or(e.Server, a.Getenv("P8_SERVER_URL"))
	if text == "" {
		return nil, nil
	}
	// The deployment's own key is not for servers that the user names.
	return newServer(ctx, text, a.Getenv("P8_SERVER_TOKEN"))
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
	return newServer(ctx, at, cmp.Or(cfg.ServerToken, cfg.APIKey))
}

func newServer(ctx context.Context, text, token string) (*Server, error) {
	base, err := datadir.ServerURL(text)
	if err != nil {
		return nil, err
	}
	id, err := identity.From(ctx)
	return &Server{base: base, id: id, token: token}, err
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
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(raw))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		identity.HeaderUserID: r.id.UserID, identity.HeaderUserEmail: r.id.Email, identity.HeaderTenantID: r.id.TenantID,
		"Content-Type": "application/json", identity.HeaderClientID: "cli",
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("the server at %s does not answer: start it with `p8 serve`, or name another with --server", r.base.Redacted())
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxPeerBody))
	if err == nil && res.StatusCode < http.StatusMultipleChoices {
		if out == nil || len(answer) == 0 {
			return nil
		}
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return fmt.Errorf("the server at %s does not answer as p8 does: check its address", r.base.Redacted())
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return refusal(r.base, res.StatusCode, answer)
	}
	return nil
}

// refusal returns the error of a problem document.
func refusal(base *url.URL, status int, answer []byte) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(answer, &problem) != nil || problem.Detail == "" {
		return fmt.Errorf("the server at %s answers with status %d: check its address, and that it is this version of p8", base.Redacted(), status)
	}
	return errors.New(strings.Join(strings.Fields(show.Visible(problem.Detail)), " "))
}

// SetNonEmpty sets the parameters that have a value.
func SetNonEmpty(q url.Values, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
}
