package outbound

import (
	"net/netip"
	"strings"
)

// IsLoopback reports whether a host, as [url.URL.Hostname] returns it, is certainly this
// machine. Names below localhost are not: a name server may resolve them to any address.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// IsLocalName reports whether a name means this machine to most programs: localhost, or a
// name below it (RFC 6761).
func IsLocalName(host string) bool {
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
