package live_test

import (
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/internal/testkit/screen"
)

// front is one address before several servers: a request goes to one that takes
// connections.
type front struct {
	URL string

	mu      sync.Mutex
	servers []*url.URL
}

func newFront(t *testing.T) *front {
	f := &front{}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(f.pick()) },
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		Transport:     &http.Transport{DisableKeepAlives: true},
		ErrorLog:      log.New(io.Discard, "", 0), // streams break all the time
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	f.URL = server.URL
	return f
}

// set replaces the servers.
func (f *front) set(servers ...*harness.Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers = nil
	for _, s := range servers {
		if u, err := url.Parse(s.URL); err == nil {
			f.servers = append(f.servers, u)
		}
	}
}

func (f *front) pick() *url.URL {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.servers[rand.IntN(len(f.servers))]
}

// stayer is a client that does not give up: it begins a turn, and comes back whenever
// its stream breaks, until it has the end.
type stayer struct {
	url, session, protocol, text string
	screen.Screen
	run   string
	last  int64
	over  bool
	cuts  int
	gates []error
}

// ends is in the last frame of a stream.
var ends = map[string][]string{
	events: {`"type":"done"`}, agui: {`"type":"RUN_FINISHED"`, `"type":"RUN_ERROR"`}, aisdk: {"[DONE]"}, openai: {"[DONE]", `"error":{`},
}

// stay reads until the end.
func (c *stayer) stay(ctx context.Context) error {
	for !c.over {
		if err := c.once(ctx); err != nil {
			c.gates = append(c.gates, err)
		}
		if ctx.Err() != nil {
			return errors.Join(append(c.gates, ctx.Err())...)
		}
		if !c.over {
			c.cuts++
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// once is one connection.
func (c *stayer) once(ctx context.Context) error {
	req, err := c.request(ctx)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
		return errors.New(res.Status + ": " + string(body))
	}
	c.run = res.Header.Get("X-Run-Id")
	if c.last == 0 || c.protocol == aisdk {
		c.Screen = screen.Screen{} // from the beginning
	}
	return c.read(res.Body)
}

func (c *stayer) request(ctx context.Context) (*http.Request, error) {
	if c.run != "" {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/runs/"+c.run+"/events?protocol="+c.protocol, nil)
		if err == nil && c.last > 0 && c.protocol != aisdk { // whose client begins anew
			req.Header.Set("Last-Event-ID", strconv.FormatInt(c.last, 10))
		}
		return req, err
	}
	body := object("messages", []any{map[string]any{"id": "m", "role": "user", "content": c.text}})
	path := "/chat/" + c.session + "?protocol=" + c.protocol
	if c.protocol == openai {
		path, body = "/v1/chat/completions", object("model", "root", "stream", true, "messages", []any{map[string]any{"role": "user", "content": c.text}})
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Session-Id": c.session, "X-Agent-Schema": "root",
		"Idempotency-Key": c.session, // the same request again is the same run
	} {
		req.Header.Set(name, value)
	}
	return req, nil
}

// read adds frames; it drops those of an event whose number did not arrive.
func (c *stayer) read(body io.Reader) error {
	var fresh []string
	in := &client{lines: lines(body)}
	for {
		line, err := in.lines.ReadString('\n')
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case err != nil:
			return err
		case name == "data":
			fresh = append(fresh, value)
		case name == "id":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				c.last = n
			}
		}
		last := name == "data" && c.ends(value)
		if name != "id" && c.protocol != openai && !last {
			continue
		}
		for _, data := range fresh {
			if err := c.Frame(c.protocol, data); err != nil {
				c.gates, c.over = append(c.gates, err), true
			}
		}
		c.last, fresh = max(c.last, c.Seq), fresh[:0]
		if last {
			c.over = true
			return nil
		}
	}
}

func (c *stayer) ends(data string) bool {
	for _, end := range ends[c.protocol] {
		if strings.Contains(data, end) {
			return true
		}
	}
	return false
}
