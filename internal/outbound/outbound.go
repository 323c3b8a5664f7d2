// Package outbound is what every request to somebody else's model server needs:
// an HTTP client of its own and the pauses between tries.
//
//	for try := 0; ; try++ {
//		res, err := client.Do(req)
//		…
//		if !outbound.Pause(ctx, try, outbound.RetryAfter(res.Header)) {
//			return err
//		}
//	}
package outbound

import (
	"net"
	"net/http"
	"time"
)

// idlePerHost is how many connections to one server wait for the next request. Where
// more runs talk to it at one time, the others dial anew for each request.
const idlePerHost = 512

// NewClient keeps enough idle connections for many runs at once and does not
// follow redirects, which would lose the body or carry it elsewhere.
func NewClient() *http.Client {
	return &http.Client{
		// The other figures are net/http's own; its default transport is not copied, as a
		// program may have put another in its place.
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        2 * idlePerHost,
			MaxIdleConnsPerHost: idlePerHost,
			// Requests are longer than this and bypass the buffer.
			WriteBufferSize:       1 << 10,
			IdleConnTimeout:       90 * time.Second,
			ExpectContinueTimeout: time.Second,
			DisableCompression:    true, // it would hold the pieces of a stream back
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
