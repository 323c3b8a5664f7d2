// Package outbound has what every request to a model provider needs: an HTTP client,
// the kind of a failure, and the pauses between tries.
//
//	for try := 0; ; try++ {
//		res, err := client.Do(req)
//		…
//		kind := outbound.ReadRefusal(body).Kind(res.StatusCode)
//		if !kind.Temporary() || !outbound.Pause(ctx, try, outbound.RetryAfter(res.Header)) {
//			return err
//		}
//	}
package outbound

import (
	"net"
	"net/http"
	"time"

	"github.com/p8-org/p8/telemetry"
)

// idlePerHost is how many idle connections to one server are kept. With more runs at
// once, the others dial for each request.
const idlePerHost = 512

// NewClient makes a client that keeps enough idle connections for many runs at once and
// does not follow redirects, which would drop the body or send it elsewhere.
func NewClient() *http.Client {
	return &http.Client{
		// The other figures are net/http's. Its default transport is not copied, as a
		// program may have replaced it.
		Transport: telemetry.Transport(&http.Transport{
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
			DisableCompression:    true, // it would delay the pieces of a stream
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
