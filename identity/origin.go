package identity

import "context"

// DeploymentKey is the KeyID of a request with the deployment's own key, P8_API_KEY, or of a
// gateway with a client certificate.
const DeploymentKey = "deployment"

// Origin is the HTTP request of a context, for the audit log.
type Origin struct {
	RequestID string
	// Address is the client's IP address, or the nearest proxy's.
	Address string
}

type originKey struct{}

// WithOrigin returns a context with the request that it serves.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns the request of a context, the zero value for none.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
