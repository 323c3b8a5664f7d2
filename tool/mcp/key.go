package mcp

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// metaKey is the key in _meta with the idempotency key of a call. A repeated call
	// has the same key; no two calls share one.
	metaKey = "dev.p8/idempotency-key"
	// keyHeader is the header with the key of a call's HTTP request, for servers and
	// gateways that read headers.
	keyHeader = "Idempotency-Key"
)

// withMeta adds the key, if there is one, to the parameters of a call.
func withMeta(params *sdk.CallToolParams, key string) {
	if key != "" {
		params.Meta = sdk.Meta{metaKey: key}
	}
}

// requestKey is the key of one HTTP request. Notifications and answers with the same
// context do not use it.
type requestKey struct {
	key  string
	sent atomic.Bool
}

type requestKeyKey struct{}

// withRequestKey gives the next HTTP request of ctx a key: the call's, with a suffix
// for each later round, whose body differs.
func withRequestKey(ctx context.Context, key string, round int) context.Context {
	if key == "" {
		return ctx
	}
	if round > 0 {
		key += "-" + strconv.Itoa(round+1)
	}
	return context.WithValue(ctx, requestKeyKey{}, &requestKey{key: key})
}

// keyed returns the request with its key, if it has one.
func keyed(req *http.Request) *http.Request {
	k, ok := req.Context().Value(requestKeyKey{}).(*requestKey)
	if !ok || req.Method != http.MethodPost || k.sent.Swap(true) {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set(keyHeader, k.key)
	return req
}
