package telemetry

import (
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport returns a transport whose requests are operations, and tell the server the span that
// they belong to. Of the address, a span has the host and the port: the rest may hold secrets.
func Transport(base http.RoundTripper) http.RoundTripper { return &transport{base} }

type transport struct{ base http.RoundTripper }

// RoundTrip sends a request. The operation ends with the body of the response.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if From(req.Context()) == nil {
		return t.base.RoundTrip(req)
	}
	method := Method(req.Method)
	ctx, op := Start(req.Context(), HTTPClient, method)
	req = req.Clone(ctx)
	Propagate(ctx, req.Header.Set)
	op.String(HTTPMethod, method)
	op.String(ServerAddress, req.URL.Hostname())
	if port, err := strconv.Atoi(req.URL.Port()); err == nil {
		op.Int(ServerPort, port)
	}
	res, err := t.base.RoundTrip(req)
	if err != nil {
		op.End(err)
		return res, err
	}
	op.Int(HTTPStatus, res.StatusCode)
	if res.StatusCode >= http.StatusBadRequest {
		op.Fail(strconv.Itoa(res.StatusCode))
	}
	end := sync.OnceFunc(func() { op.End(nil) })
	if w, ok := res.Body.(io.Writer); ok { // a connection that changed its protocol
		res.Body = &conn{body{res.Body, end}, w}
	} else {
		res.Body = &body{res.Body, end}
	}
	return res, nil
}

// CloseIdleConnections closes those of the transport.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// body ends an operation when it is read or closed.
type body struct {
	io.ReadCloser
	end func()
}

// Read reads the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.end()
	}
	return n, err
}

// Close closes the body.
func (b *body) Close() error {
	b.end()
	return b.ReadCloser.Close()
}

type conn struct {
	body
	io.Writer
}

// Method returns the method of a request, _OTHER for one that nobody defined: metrics must not get
// a series for each.
func Method(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return other
}
