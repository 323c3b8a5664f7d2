package mcp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// redirect is the address of this machine to which a browser is sent after a sign-in.
type redirect struct {
	url     string
	server  *http.Server
	replies chan url.Values
	done    chan struct{}
}

// redirectPath is the path of the address.
const redirectPath = "/callback"

// listenForCode listens on a port of loopback.
func listenForCode(port int) (*redirect, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	r := &redirect{url: "http://" + l.Addr().String() + redirectPath, replies: make(chan url.Values), done: make(chan struct{})}
	r.server = &http.Server{Handler: r, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(r.done)
		_ = r.server.Serve(l)
	}()
	return r, nil
}

// close stops the server. It waits up to a second for the browser to receive its page.
func (r *redirect) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
	<-r.done
}

// ServeHTTP takes the reply of the authorization server, and tells the person to go back.
func (r *redirect) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet || req.URL.Path != redirectPath || !strings.HasPrefix(r.url, "http://"+req.Host+"/") {
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

// deniedError means that the person, or the authorization server, said no.
type deniedError struct{ reason string }

// Error returns the reason.
func (e *deniedError) Error() string { return "the sign-in was refused: " + e.reason }

// wait returns the reply with this state, from the browser or from the person who pasted
// its address. Other replies are somebody else's, and are ignored.
func (r *redirect) wait(ctx context.Context, state string, pasted <-chan string) (url.Values, error) {
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
			return nil, &deniedError{clip(clean(reply.Get("error")))}
		case reply.Get("code") == "":
			return nil, errors.New("the authorization server gave no code")
		}
		return reply, nil
	}
}
