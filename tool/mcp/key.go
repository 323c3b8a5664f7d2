package mcp

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// metaKey is where _meta has the idempotency key of a call: the same whenever p8
	// makes the call again, and no other call's.
	metaKey = "dev.p8/idempotency-key"
	// keyHeader has the key of a call's HTTP request, for servers and gateways that go
	// by the header.
	keyHeader = "Idempotency-Key"
)

// withMeta adds the key to the parameters of a call, if there is one.
func withMeta(params *sdk.CallToolParams, key string) {
	if key != "" {
		params.Meta = sdk.Meta{metaKey: key}
	}
}

// requestKey is the key of one HTTP request. The notifications and answers that are
// sent with the same context are not the request.
type requestKey struct {
	key  string
	sent atomic.Bool
}

type requestKeyKey struct{}

// withRequestKey gives the next HTTP request of ctx a key: that of the call, and
// another for each later round of it, whose body differs.
func withRequestKey(ctx context.Context, key string, round int) context.Context {
	if key == "" {
		return ctx
	}
	if round > 0 {
		key += "-" + strconv.Itoa(round+1)
	}
	return context.WithValue(ctx, requestKeyKey{}, &requestKey{key: key})
}

// keyed is the request with its key, if it has one.
func keyed(req *http.Request) *http.Request {
	k, ok := req.Context().Value(requestKeyKey{}).(*requestKey)
	if !ok || req.Method != http.MethodPost || k.sent.Swap(true) {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set(keyHeader, k.key)
	return req
}
