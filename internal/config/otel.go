package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// contentModes are the values of OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT that are
// no truth values. p8 has no events with contents.
var contentModes = []string{"NO_CONTENT", "SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT"}

// SendsTelemetry reports whether spans and metrics are sent to a collector.
func (c *Config) SendsTelemetry() bool {
	if off, _ := strconv.ParseBool(c.Getenv("OTEL_SDK_DISABLED")); off {
		return false
	}
	if c.OTelEnabled == "" {
		return c.OTelEndpoint != ""
	}
	on, _ := strconv.ParseBool(c.OTelEnabled)
	return on
}

// RecordsContent reports whether spans have what users, models and tools say.
func (c *Config) RecordsContent() bool {
	on, _ := strconv.ParseBool(c.OTelContent)
	return on || strings.HasPrefix(strings.ToUpper(c.OTelContent), "SPAN")
}

// OTLPEndpoint returns the base URL of the collector.
func (c *Config) OTLPEndpoint() string {
	at := strings.TrimSpace(c.OTelEndpoint)
	switch {
	case at == "" && c.UsesGRPC():
		return "http://localhost:4317"
	case at == "":
		return "http://localhost:4318"
	case strings.Contains(at, "://"):
		// Phoenix's documentation gives the address of the traces.
		return strings.TrimSuffix(strings.TrimSuffix(at, "/"), "/v1/traces")
	case c.OTelInsecure:
		return "http://" + at
	}
	return "https://" + at
}

// UsesGRPC reports whether the collector is asked by gRPC.
func (c *Config) UsesGRPC() bool { return c.OTelProtocol == "grpc" }

func (c *Config) otelRequirements() []requirement {
	return []requirement{
		{"P8_OTEL_ENABLED", c.OTelEnabled == "" || isBool(c.OTelEnabled), ""},
		{"P8_OTEL_COLLECTOR_ENDPOINT", c.OTelEndpoint == "" || isHTTP(c.OTLPEndpoint()), ""},
		{"P8_OTEL_PROTOCOL", slices.Contains([]string{"http", "http/protobuf", "grpc"}, c.OTelProtocol), ""},
		{"P8_OTEL_HEADERS", isPairs(c.OTelHeaders), ""},
		{"P8_OTEL_EXPORT_TIMEOUT", c.OTelTimeout >= Milliseconds(time.Millisecond) && c.OTelTimeout <= Milliseconds(10*time.Minute), ""},
		{"P8_OTEL_CERTIFICATE", c.OTelCA == "" || isFile(c.OTelCA), "is not a file"},
		{"P8_OTEL_SAMPLER", slices.Contains([]string{"always_on", "always_off", "traceidratio"}, strings.TrimPrefix(c.OTelSampler, "parentbased_")), ""},
		{"P8_OTEL_SAMPLER_ARG", c.OTelSamplerArg >= 0 && c.OTelSamplerArg <= 1, ""},
		{"P8_OTEL_RESOURCE_ATTRIBUTES", isPairs(c.OTelResource), ""},
		{"P8_OTEL_METRICS_EXPORTER", slices.Contains([]string{"otlp", "none", "prometheus"}, c.OTelMetrics), ""},
		{"P8_OTEL_METRIC_EXPORT_INTERVAL", c.OTelInterval >= Milliseconds(time.Second) && c.OTelInterval <= Milliseconds(time.Hour), ""},
		{"P8_OTEL_CONTENT", isBool(c.OTelContent) || slices.Contains(contentModes, strings.ToUpper(c.OTelContent)), ""},
	}
}

// Pairs parses "a=1,b=x%20y", the form of OTEL_RESOURCE_ATTRIBUTES. ok is false if a part is
// not of that form.
func Pairs(text string) (list [][2]string, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, found := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !found || name == "" || err != nil || !isSendable(value) {
			return nil, false
		}
		list = append(list, [2]string{name, value})
	}
	return list, true
}

func isPairs(text string) bool {
	_, ok := Pairs(text)
	return ok
}

func isBool(text string) bool {
	_, err := strconv.ParseBool(text)
	return err == nil
}
