package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/config"
)

func TestTrustedProxies(t *testing.T) {
	for set, want := range map[string]string{
		"":                                   "[]",
		"10.0.0.5, 10.1.2.3/8,2001:db8::/32": "[10.0.0.5/32 10.0.0.0/8 2001:db8::/32]",
		"::ffff:10.0.0.5":                    "[10.0.0.5/32]",
		"proxy.internal":                     "P8_TRUSTED_PROXIES",
		"10.0.0.0/8,0.0.0.0/0":               "P8_TRUSTED_PROXIES",
	} {
		c, err := config.Load(config.Options{Environ: []string{"P8_DATA_DIR=" + t.TempDir(), "P8_TRUSTED_PROXIES=" + set}})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(c.Proxies())
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", set, got, want)
		}
	}
}
