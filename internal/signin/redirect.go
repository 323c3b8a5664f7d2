package signin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Redirect is the address of this machine to which a browser is sent after a sign-in.
type Redirect struct {
	// URL is the address, with a port of loopback.
	URL     string
	server  *http.Server
	replies chan url.Values
	done    chan struct{}
}

// redirectPath is the path of the address.
const redirectPath = "/callback"

// Listen listens on a port of loopback, any free one if 0.
func Listen(port int) (*Redirect, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	r := &Redirect{URL: "http://" + l.Addr().String() + redirectPath, replies: make(chan url.Values), done: make(chan struct{})}
	r.server = &http.Server{Handler: r, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(r.done)
		_ = r.server.Serve(l)
	}()
	return r, nil
}

// Close stops the server. It waits up to a second for the browser to receive its page.
func (r *Redirect) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
	<-r.done
}

// ServeHTTP takes the reply of the authorization server, and tells the person to go back.
func (r *Redirect) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet || req.URL.Path != redirectPath || !strings.HasPrefix(r.URL, "http://"+req.Host+"/") {
		http.NotFound(w, req)
		return
	}
	select {
	case r.replies <- req.URL.Query():
	case <-req.Context().Done():
		return
	case <-time.After(time.Second):
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("p8 has the answer. You can close this page and go back to the terminal.\n"))
}

// DeniedError means that the person, or the authorization server, said no.
type DeniedError struct{ Reason string }

// Error returns the reason.
func (e *DeniedError) Error() string { return "the sign-in was refused: " + e.Reason }

// Wait returns the reply with this state, from the browser or from the person who pasted
// its address. Other replies are somebody else's, and are ignored.
func (r *Redirect) Wait(ctx context.Context, state string, pasted <-chan string) (url.Values, error) {
	for {
		var reply url.Values
		select {
		case reply = <-r.replies:
		case text, ok := <-pasted:
			if !ok {
				pasted = nil
				continue
			}
			at, err := url.Parse(strings.TrimSpace(text))
			if err != nil {
				continue
			}
			reply = at.Query()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case state == "" || reply.Get("state") != state:
			continue
		case reply.Get("error") != "":
			return nil, &DeniedError{plain(reply.Get("error"))}
		case reply.Get("code") == "":
			return nil, errors.New("the authorization server gave no code")
		}
		return reply, nil
	}
}

// plain returns the printable characters of a foreign text, at most 60.
func plain(text string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
	const most = 60
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
