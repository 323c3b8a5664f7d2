package config

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		metrics, key string
		host         string
		port         int
		serves       bool
	}{
		{"", "", "", 0, true}, // this machine reads them at the server's address
		{"off", "", "", 0, false},
		{"9090", "", "127.0.0.1", 9090, true},
		{":9090", "", "127.0.0.1", 9090, true},
		{"0.0.0.0:9090", "P8_AUTH_KEYS=true", "0.0.0.0", 9090, true},
		{"[::1]:0", "", "::1", 0, true},
		{"", "P8_AUTH_KEYS=true", "", 0, false}, // nobody could read them
		{"", "P8_API_KEY=0123456789abcdef0123", "", 0, true},
	} {
		cfg, err := Load(Options{Environ: []string{"HOME=/h", "P8_METRICS_ADDR=" + c.metrics, c.key}})
		if err != nil {
			t.Fatal(err)
		}
		host, port, ok := cfg.MetricsAddress()
		if c.host != "" && (host != c.host || port != c.port) || ok != (c.host != "") || cfg.ServesMetrics() != c.serves {
			t.Errorf("%q: %s %d %v, serves %v", c.metrics, host, port, ok, cfg.ServesMetrics())
		}
	}
	for _, wrong := range []string{"P8_METRICS_ADDR=on", "P8_METRICS_ADDR=1.2.3.4:x", "P8_PPROF_ADDR=off", "P8_PPROF_ADDR=70000", "P8_OTEL_METRICS_EXPORTER=console", "P8_OTEL_METRIC_EXPORT_INTERVAL=1ms"} {
		name, _, _ := strings.Cut(wrong, "=")
		if _, err := Load(Options{Environ: []string{"HOME=/h", wrong}}); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for address, weak := range map[string]bool{"6060": false, "localhost:6060": false, "0.0.0.0:6060": true, "10.0.0.1:6060": true} {
		cfg, err := Load(Options{Environ: []string{"HOME=/h", "P8_PPROF_ADDR=" + address}})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, w := range cfg.Weaknesses() {
			found = found || w.Name == "P8_PPROF_ADDR"
		}
		if found != weak {
			t.Errorf("%s: weak is %v", address, found)
		}
	}
}
