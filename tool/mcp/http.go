package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"github.com/p8-org/p8/internal/signin"
)

// delivery records how far one message to a server got.
type delivery struct {
	// reached is true if the message may have reached the server.
	reached atomic.Bool
	// status is the server's last HTTP status.
	status atomic.Int32
	// unknown is true if the server does not know the session, and so did nothing.
	unknown atomic.Bool
	posts   atomic.Int32
	// refusal is set if the user must sign in again.
	refusal atomic.Pointer[refusal]
}

type deliveryKey struct{}

func withDelivery(ctx context.Context, d *delivery) context.Context {
	return context.WithValue(ctx, deliveryKey{}, d)
}

// deliveryFrom never returns nil.
func deliveryFrom(ctx context.Context) *delivery {
	if d, ok := ctx.Value(deliveryKey{}).(*delivery); ok {
		return d
	}
	return &delivery{}
}

// maxBody bounds an answer that is not a stream, in bytes.
const maxBody = 24 << 20

// httpTransport sends a server's headers to that server only, and records how far each
// message got.
type httpTransport struct {
	base    http.RoundTripper
	origin  *url.URL
	headers map[string]string
	access  access
	// sse is true for the older transport, whose unknown sessions no header shows.
	sse bool
}

// client follows no redirect to another host.
func (t *httpTransport) client() *http.Client {
	const most = 5
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if !signin.SameOrigin(req.URL, t.origin) {
			return signin.ErrForeign
		}
		if len(via) >= most {
			return errors.New("too many redirects")
		}
		return nil
	}}
}

// RoundTrip sends one request; it renews a refused token once.
func (t *httpTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !signin.SameOrigin(req.URL, t.origin) {
		return nil, signin.ErrForeign
	}
	req = keyed(req)
	res, err := t.send(req)
	if err != nil || t.access == nil || (res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden) {
		return res, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxBody))
	res.Body.Close()
	res.Body = http.NoBody
	if err := t.access.authorize(req, res); err != nil {
		if noteRefusal(req, err) {
			return res, nil // the SDK tries an older revision after an error, but not after this answer
		}
		return nil, err
	}
	if req.GetBody != nil {
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.send(req)
}

func (t *httpTransport) send(req *http.Request) (*http.Response, error) {
	d := deliveryFrom(req.Context())
	var connected, broken atomic.Bool
	req = req.Clone(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true); broken.Store(false) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err != nil {
				broken.Store(true)
			}
		},
	}))
	for name, value := range t.headers {
		req.Header.Set(name, value)
	}
	if t.access != nil {
		if err := t.access.sign(req); err != nil {
			noteRefusal(req, err)
			return nil, err
		}
	}
	post := req.Method == http.MethodPost
	if post {
		d.posts.Add(1)
	}
	res, err := t.base.RoundTrip(req)
	if err != nil {
		// net/http retries a POST only if nothing of it was written, so a dial error
		// means that nothing ever was.
		var op *net.OpError
		dialled := errors.As(err, &op) && op.Op == "dial"
		if post && connected.Load() && !broken.Load() && !dialled {
			d.reached.Store(true)
		}
		return nil, err
	}
	if post {
		t.note(d, req, res)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		res.Body = &limitedBody{ReadCloser: res.Body, left: maxBody}
	}
	return res, nil
}

// noteRefusal records that the user must sign in again; false if err has another cause.
func noteRefusal(req *http.Request, err error) bool {
	var r *refusal
	if !errors.As(err, &r) {
		return false
	}
	deliveryFrom(req.Context()).refusal.Store(r)
	return true
}

// note records the answer to a POST.
func (t *httpTransport) note(d *delivery, req *http.Request, res *http.Response) {
	d.status.Store(int32(res.StatusCode))
	d.reached.Store(true)
	inSession := t.sse || req.Header.Get("Mcp-Session-Id") != ""
	refused := res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusBadRequest
	if inSession && refused && d.posts.Load() == 1 {
		d.unknown.Store(true)
	}
}

// limitedBody fails at its limit, where io.LimitReader would report the end.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", maxBody)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
