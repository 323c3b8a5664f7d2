package signin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/p8-org/p8/internal/outbound"
)

const (
	// requestTimeout bounds one request to a server or an authorization server.
	requestTimeout = 10 * time.Second
	// maxResponse bounds a response, in bytes.
	maxResponse = 1 << 20
)

// ErrForeign means that a server redirected to another host.
var ErrForeign = errors.New("the server points to another host")

// Client returns a client for servers and authorization servers: it bounds time and
// responses, and follows no redirect to another host.
func Client(base http.RoundTripper) *http.Client {
	return &http.Client{Transport: bounded{base}, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		const most = 5
		if !SameOrigin(req.URL, via[0].URL) {
			return ErrForeign
		}
		if len(via) >= most {
			return errors.New("too many redirects")
		}
		return nil
	}}
}

// SameOrigin reports whether two addresses are of one host and scheme.
func SameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// bounded reads responses whole, within a time and up to a length. Package oauth2 does not
// close all of them.
type bounded struct{ base http.RoundTripper }

// RoundTrip sends a request.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), requestTimeout)
	defer cancel()
	res, err := b.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// reachesHere reports whether a request to a host may reach this machine.
func reachesHere(host string) bool {
	ip, err := netip.ParseAddr(host)
	return outbound.IsLoopback(host) || outbound.IsLocalName(host) || err == nil && ip.Unmap().IsUnspecified()
}

// safe parses an address that a server names. A server elsewhere must not make this
// machine send requests to itself.
func safe(text string, local bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("%q is no address of a server", plain(text))
	case reachesHere(u.Hostname()) && !local:
		return nil, fmt.Errorf("%q is an address of this machine, but the server is elsewhere", plain(text))
	case u.Scheme == "https", u.Scheme == "http" && outbound.IsLoopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("%q is not https, so others could read and change what it says", plain(text))
}

// statusError is a response that is not a success.
type statusError int

// Error returns the status.
func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// get reads a JSON object.
func get(ctx context.Context, client *http.Client, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		if errors.Is(err, ErrForeign) || ctx.Err() != nil {
			return err
		}
		return errors.New("there is no answer")
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return statusError(res.StatusCode)
	}
	if json.NewDecoder(res.Body).Decode(into) != nil {
		return errors.New("the answer is no JSON object")
	}
	return nil
}
