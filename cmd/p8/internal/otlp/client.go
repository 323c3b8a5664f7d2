// Package otlp sends spans and metrics to an OpenTelemetry collector, over OTLP/HTTP or
// OTLP/gRPC. A [Client] takes the messages that OpenTelemetry's protocol buffers define.
//
// The official exporters link grpc-go, also those for HTTP, which makes the program 8 MB
// larger; a unary call of gRPC is one request of HTTP/2 with a prefix and a trailer, which
// net/http sends.
package otlp

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/p8-org/p8/internal/outbound"
)

// Signal is what is sent.
type Signal struct {
	// name is for errors, path is that of OTLP/HTTP, service that of OTLP/gRPC.
	name, path, service string
}

// Traces are the spans: a message with the field resource_spans, such as TracesData.
func Traces() Signal {
	return Signal{"spans", "/v1/traces", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"}
}

// Metrics are the metrics: a message with the field resource_metrics, such as MetricsData.
func Metrics() Signal {
	return Signal{"metrics", "/v1/metrics", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"}
}

// Options configure New.
type Options struct {
	// Endpoint is the base URL of the collector, http or https.
	Endpoint string
	// GRPC chooses OTLP/gRPC rather than OTLP/HTTP.
	GRPC bool
	// Headers are sent with each request.
	Headers [][2]string
	// Timeout bounds Send with its retries; 10 s when 0.
	Timeout time.Duration
	// Authorities has the PEM certificates that may sign that of the collector; nil means
	// those of the system.
	Authorities []byte
	// Version is that of the program.
	Version string
}

// Client sends messages. It is safe for concurrent use.
type Client struct {
	Options
	http    *http.Client
	shown   string // the endpoint without a password
	stopped atomic.Bool
}

// New makes a client. It connects with the first message.
func New(o Options) (*Client, error) {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 2, IdleConnTimeout: 90 * time.Second, Protocols: new(http.Protocols)}
	if o.GRPC {
		transport.Protocols.SetHTTP2(true)
		transport.Protocols.SetUnencryptedHTTP2(true)
	} else {
		transport.Protocols.SetHTTP1(true)
		transport.Protocols.SetHTTP2(true)
	}
	if o.Authorities != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(o.Authorities) {
			return nil, errors.New("the file has no certificate in PEM")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	at, err := url.Parse(o.Endpoint)
	if err != nil {
		return nil, errors.New("the endpoint is no URL")
	}
	return &Client{Options: o, shown: at.Redacted(), http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Send sends a message, which the collector has stored or passed on when Send returns nil. It
// repeats the request if the collector is busy or unreachable. The error names the endpoint, and
// has no header.
func (c *Client) Send(ctx context.Context, s Signal, message proto.Message) error {
	body, err := proto.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode %s: %w", s.name, err)
	}
	if body, err = compress(body); err != nil {
		return fmt.Errorf("compress %s: %w", s.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	for try := 0; ; try++ {
		f := c.try(ctx, s, body)
		if f == nil {
			return nil
		}
		if !f.temporary || c.stopped.Load() || !outbound.Pause(ctx, try, f.after) {
			return fmt.Errorf("send %s to %s: %w", s.name, c.shown, f.err)
		}
	}
}

// Stop ends retries, as the process is about to end. Messages can still be sent.
func (c *Client) Stop() { c.stopped.Store(true) }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// failure is a failed request.
type failure struct {
	err error
	// temporary: the same request may succeed after a while, after if that is not 0.
	temporary bool
	after     time.Duration
}

func (c *Client) try(ctx context.Context, s Signal, body []byte) *failure {
	if c.GRPC {
		return c.call(ctx, s, body)
	}
	return c.post(ctx, s, body)
}

// send sends one request. The caller closes the response's body.
func (c *Client) send(ctx context.Context, path string, body []byte, header http.Header) (*http.Response, *failure) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint+path, bytes.NewReader(body))
	if err != nil {
		return nil, &failure{err: outbound.Cause(err)}
	}
	req.Header = header
	req.Header.Set("User-Agent", "p8/"+c.Version)
	for _, h := range c.Headers {
		req.Header.Set(h[0], h[1])
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, &failure{err: outbound.Cause(err), temporary: ctx.Err() == nil}
	}
	return res, nil
}
