// Command oidc-go is an OpenID provider for tests: that of github.com/zitadel/oidc, with
// JSON Web Tokens for the resource that a client asks for, refresh tokens that rotate, and
// addresses that change its keys and the lifetime of its tokens. It prints its issuer, and
// serves until its stdin ends.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	issuer := "http://" + l.Addr().String()
	clients := map[string]*storage.Client{"p8-cli": storage.NativeClient("p8-cli", "http://127.0.0.1/callback")}
	s := newTokens(storage.NewStorageWithClients(storage.NewUserStore(issuer), clients))
	router := exampleop.SetupServer(issuer, s, slog.New(slog.DiscardHandler), false, op.WithCustomDeviceAuthorizationEndpoint(op.NewEndpoint("device_authorization")))

	mux := http.NewServeMux()
	mux.HandleFunc("POST /control/rotate", func(http.ResponseWriter, *http.Request) { s.rotate() })
	mux.HandleFunc("POST /control/lifetime/{seconds}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("seconds"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.live(time.Duration(n) * time.Second)
	})
	mux.HandleFunc("GET /control/refreshes", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s.refreshes()) })
	mux.HandleFunc("POST /device_authorization", func(w http.ResponseWriter, r *http.Request) {
		// The example's clients ask every 5 s: tests do not wait so long.
		w = &hurried{w}
		router.ServeHTTP(w, r)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		// The library does not know resources (RFC 8707).
		_ = r.ParseForm()
		router.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), resourceKey{}, r.Form.Get("resource"))))
	})
	fmt.Println(issuer)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fail(http.Serve(l, mux))
}

func fail(err error) {
	slog.Error("the provider stops", "error", err)
	os.Exit(1)
}

type resourceKey struct{}

// hurried shortens the interval of a response.
type hurried struct{ http.ResponseWriter }

func (h *hurried) Write(b []byte) (int, error) {
	_, err := h.ResponseWriter.Write(bytes.Replace(b, []byte(`"interval":5`), []byte(`"interval":1`), 1))
	return len(b), err
}
