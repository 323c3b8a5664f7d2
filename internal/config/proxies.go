package config

import (
	"net/netip"
	"strings"
)

// Proxies returns the networks of P8_TRUSTED_PROXIES, without those that are none. The whole
// internet is none: anybody could name any address.
func (c *Config) Proxies() []netip.Prefix {
	var networks []netip.Prefix
	for _, text := range c.TrustedProxies {
		text = strings.TrimSpace(text)
		p, err := netip.ParsePrefix(text)
		if a, e := netip.ParseAddr(text); e == nil && a.Zone() == "" {
			a = a.Unmap()
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err == nil && p.Bits() > 0 {
			networks = append(networks, p.Masked())
		}
	}
	return networks
}
