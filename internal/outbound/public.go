package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// ErrPrivate means that an address is of this machine or of a private network.
var ErrPrivate = errors.New("the address is not on the public internet")

// notPublic are ranges that net/netip does not know as private: of carriers, of special
// purposes, and of translations, which may hide a private address.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// IsPublic reports whether an address is on the public internet.
func IsPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// CheckURL returns why a URL of a stranger is not asked, in words for them. The names of
// public hosts are not resolved: the client of [NewPublicClient] checks each address.
// private allows addresses of private networks.
func CheckURL(address string, private bool) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return errors.New("is not an http or https URL")
	case u.User != nil:
		return errors.New("has a user name or a password in it")
	case private:
		return nil
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	ip, err := netip.ParseAddr(host)
	if IsLocalName(host) || err == nil && !IsPublic(ip) {
		return fmt.Errorf("cannot be used: %w", ErrPrivate)
	}
	return nil
}

// NewPublicClient makes a client for URLs of strangers. It connects to public addresses
// only, whatever a name resolves to, unless private is true. It uses no proxy, which would
// resolve the names itself, and follows no redirects.
func NewPublicClient(private bool) *http.Client {
	return newPublicClient(&net.Dialer{Timeout: 10 * time.Second}, private)
}

func newPublicClient(dialer *net.Dialer, private bool) *http.Client {
	if !private {
		// It sees the address that is connected to, after every look-up of a name.
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || !IsPublic(to.Addr()) {
				return ErrPrivate
			}
			return nil
		}
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  15 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConns:           16,
			IdleConnTimeout:        30 * time.Second,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
