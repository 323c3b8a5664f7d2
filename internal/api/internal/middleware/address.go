package middleware

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/problem"
)

// address is the IP address of the client, or that of the nearest proxy that is not one of Proxies:
// what a header says about it could be anybody's words, but for what one of Proxies has added.
func (c *chain) address(r *http.Request) string {
	address := r.RemoteAddr
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	if len(c.Proxies) == 0 || !c.isProxy(address) {
		return address
	}
	// Each proxy adds the address of its own client at the end.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		a, err := netip.ParseAddr(withoutPort(strings.TrimSpace(hop)))
		if err != nil {
			return address
		}
		if address = a.Unmap().String(); !c.isProxy(address) {
			return address
		}
	}
	return address
}

// withoutPort removes the port, which some proxies add, and the brackets around an IPv6 address.
func withoutPort(hop string) string {
	if at, err := netip.ParseAddrPort(hop); err == nil {
		return at.Addr().String()
	}
	return strings.Trim(hop, "[]")
}

func (c *chain) isProxy(address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(c.Proxies, func(p netip.Prefix) bool { return p.Contains(a.Unmap().WithZone("")) })
}

// login counts an attempt to log in, whose caller has no token yet, before the password is looked at.
func (c *chain) login(w http.ResponseWriter, r *http.Request) *problem.Problem {
	if r.Method != http.MethodPost || r.URL.Path != "/auth/login" {
		return nil
	}
	return c.stranger(w, r)
}

// stranger counts a request at the address of its caller, or returns why it is refused. The token of a
// request is verified before, so that an address is never closed to the others that have a token.
func (c *chain) stranger(w http.ResponseWriter, r *http.Request) *problem.Problem {
	if c.AdmitStranger == nil {
		return nil
	}
	standing, err := c.AdmitStranger(r.Context())
	standing.Set(w.Header())
	if err != nil {
		return c.describe.Describe(r.Context(), err)
	}
	return nil
}
