// Package edge is what a connection meets before a request: the bound of connections, and TLS.
//
// A [Listener] accepts any number of connections, and keeps a bounded one: beyond it, the
// connection that has waited longest without a request being served is closed. Clients that
// send a header byte by byte, or nothing, so make room for those that ask. If a request is
// served on every connection, the new one is closed.
//
// A [Certificate] is read from files, again whenever they change.
// An [Authority] gets certificates by ACME.
package edge

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// Listener bounds the open connections of a server. The server needs its ConnContext, and its
// Handler through Serving.
type Listener struct {
	net.Listener
	most int

	mu   sync.Mutex
	open int
	// waiting are the connections without a request, the one that waits longest first.
	waiting *list.List
}

// Bound returns a listener that keeps at most so many connections open.
func Bound(l net.Listener, most int) *Listener {
	return &Listener{Listener: l, most: most, waiting: list.New()}
}

// conn is a connection of a Listener.
type conn struct {
	net.Conn
	of *Listener
	// serving counts the requests that are served; place is its place among those that wait,
	// nil while serving or closed.
	serving int
	place   *list.Element
	closed  bool
}

// Open returns how many connections are open.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Accept returns the next connection that is kept.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, of: l}
		old, ok := l.admit(c)
		if old != nil {
			_ = old.Close()
		}
		if ok {
			return c, nil
		}
		_ = raw.Close()
	}
}

// admit keeps a connection. old is the one that makes room for it.
func (l *Listener) admit(c *conn) (old *conn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most {
		front := l.waiting.Front()
		if front == nil {
			return nil, false
		}
		old = front.Value.(*conn)
		l.forget(old)
	}
	l.open++
	c.place = l.waiting.PushBack(c)
	return old, true
}

// forget removes a connection; l.mu is held.
func (l *Listener) forget(c *conn) {
	if c.closed {
		return
	}
	c.closed = true
	l.open--
	if c.place != nil {
		l.waiting.Remove(c.place)
		c.place = nil
	}
}

// Close closes the connection and makes room for another.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.forget(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// serve counts the requests that are served on the connection.
func (c *conn) serve(n int) {
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	c.serving += n
	switch {
	case c.closed:
	case c.serving > 0 && c.place != nil:
		l.waiting.Remove(c.place)
		c.place = nil
	case c.serving == 0 && c.place == nil:
		c.place = l.waiting.PushBack(c)
	}
}

type connKey struct{}

// ConnContext is for http.Server.
func ConnContext(ctx context.Context, raw net.Conn) context.Context {
	if t, ok := raw.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	if c, ok := raw.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Serving tells the listener which connections have a request that is being served.
func Serving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.serve(1)
			defer c.serve(-1)
		}
		next.ServeHTTP(w, r)
	})
}
