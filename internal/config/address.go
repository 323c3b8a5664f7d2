package config

import (
	"net"
	"strconv"

	"github.com/p8-org/p8/internal/outbound"
)

// metricsOff is the value of P8_METRICS_ADDR for no metrics.
const metricsOff = "off"

// ServesMetrics reports whether p8 serve measures itself for Prometheus: there is an address at which
// the metrics can be read.
func (c *Config) ServesMetrics() bool {
	switch c.MetricsAddr {
	case metricsOff:
		return false
	case "":
		return c.APIKey != "" || !c.Authenticates()
	}
	return true
}

// SendsMetrics reports whether p8 serve sends its metrics to a collector.
func (c *Config) SendsMetrics() bool { return c.SendsTelemetry() && c.OTelMetrics == "otlp" }

// MetricsAddress returns the address of the metrics; ok is false if they have none of their own.
func (c *Config) MetricsAddress() (host string, port int, ok bool) {
	if c.MetricsAddr == metricsOff {
		return "", 0, false
	}
	return splitAddress(c.MetricsAddr)
}

// PprofAddress returns the address of the profiles; ok is false if there are none.
func (c *Config) PprofAddress() (host string, port int, ok bool) { return splitAddress(c.PprofAddr) }

// splitAddress parses "127.0.0.1:9090"; without a host, as in "9090" and ":9090", the address is
// one of this machine.
func splitAddress(text string) (host string, port int, ok bool) {
	host, number, err := net.SplitHostPort(text)
	if err != nil {
		host, number = "", text
	}
	if host == "" {
		host = "127.0.0.1"
	}
	port, err = strconv.Atoi(number)
	return host, port, err == nil && port >= 0 && port <= 65535
}

func isListen(text string) bool {
	_, _, ok := splitAddress(text)
	return ok
}

// isOpenAddress reports whether others than this machine reach an address.
func isOpenAddress(host string, ok bool) bool {
	return ok && !outbound.IsLoopback(host) && !outbound.IsLocalName(host)
}
