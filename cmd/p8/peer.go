package main

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

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
)

// elsewhere names a server that has the data.
type elsewhere struct {
	Server string `help:"Ask a running server instead of the database; P8_SERVER_URL if not given. A server that has the embedded database is found by itself." placeholder:"URL"`
}

// peer is a running server, asked for somebody.
type peer struct {
	base *url.URL
	id   identity.Identity
	// patience is how long an answer may take; [peerTimeout] when 0.
	patience time.Duration
}

// peer is the server that the flag or the environment names; nil for none.
func (e elsewhere) peer(ctx context.Context, a *app) (*peer, error) {
	text := cmp.Or(e.Server, a.getenv("P8_SERVER_URL"))
	if text == "" {
		return nil, nil
	}
	return newPeer(ctx, text)
}

// owner is the server that has the data folder, when err says that somebody has;
// else err.
func owner(ctx context.Context, cfg *config.Config, err error) (*peer, error) {
	var taken *inUse
	at := ""
	if errors.As(err, &taken) {
		at = serverOf(cfg)
	}
	if at == "" {
		return nil, err
	}
	return newPeer(ctx, at)
}

func newPeer(ctx context.Context, text string) (*peer, error) {
	base, err := serverURL(text)
	if err != nil {
		return nil, err
	}
	id, err := identity.From(ctx)
	return &peer{base: base, id: id}, err
}

// The bounds of a request to a server.
const (
	peerTimeout = time.Minute
	maxPeerBody = 32 << 20
)

// do sends a request and decodes the answer into out, which may be nil. A refusal
// is an error in the server's words.
func (r *peer) do(ctx context.Context, method, path string, query url.Values, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.patience, peerTimeout))
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

// refusal is what a server says in a problem document.
func refusal(base *url.URL, status int, answer []byte) error {
	var problem struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(answer, &problem) != nil || problem.Detail == "" {
		return fmt.Errorf("the server at %s answers with status %d: check its address, and that it is this version of p8", base.Redacted(), status)
	}
	return errors.New(strings.Join(strings.Fields(visible(problem.Detail)), " "))
}
