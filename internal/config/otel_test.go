package config

import (
	"strings"
	"testing"
	"time"
)

func TestTelemetry(t *testing.T) {
	for _, tt := range []struct {
		name     string
		environ  []string
		on       bool
		endpoint string
		content  bool
	}{
		{"nothing is set", nil, false, "http://localhost:4318", false},
		{"p8's names", []string{"P8_OTEL_ENABLED=true", "P8_OTEL_COLLECTOR_ENDPOINT=http://collector:4318/", "P8_OTEL_CONTENT=true"}, true, "http://collector:4318", true},
		{"REM's names", []string{"OTEL__ENABLED=true", "OTEL__COLLECTOR_ENDPOINT=http://localhost:6006", "OTEL__PROTOCOL=http", "OTEL__EXPORT_TIMEOUT=30000"}, true, "http://localhost:6006", false},
		{"the standard names", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://collector", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"}, true, "https://collector", true},
		{"an endpoint that is not used", []string{"P8_OTEL_ENABLED=false", "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector"}, false, "http://collector", false},
		{"switched off for all programs", []string{"P8_OTEL_ENABLED=true", "OTEL_SDK_DISABLED=true"}, false, "http://localhost:4318", false},
		{"gRPC", []string{"P8_OTEL_ENABLED=1", "P8_OTEL_PROTOCOL=grpc"}, true, "http://localhost:4317", false},
		{"no scheme", []string{"P8_OTEL_COLLECTOR_ENDPOINT=collector:4317", "P8_OTEL_PROTOCOL=grpc"}, true, "http://collector:4317", false},
		{"no scheme, with TLS", []string{"P8_OTEL_COLLECTOR_ENDPOINT=collector:4317", "P8_OTEL_INSECURE=false"}, true, "https://collector:4317", false},
		{"Phoenix's address of the traces", []string{"P8_OTEL_COLLECTOR_ENDPOINT=http://localhost:6006/v1/traces"}, true, "http://localhost:6006", false},
		{"events alone may have contents", []string{"P8_OTEL_CONTENT=EVENT_ONLY"}, false, "http://localhost:4318", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := load(t, "", nil, tt.environ...)
			if err != nil {
				t.Fatal(err)
			}
			if c.SendsTelemetry() != tt.on || c.OTLPEndpoint() != tt.endpoint || c.RecordsContent() != tt.content {
				t.Errorf("on %v, endpoint %s, content %v", c.SendsTelemetry(), c.OTLPEndpoint(), c.RecordsContent())
			}
			if len(tt.environ) > 3 && strings.Contains(tt.environ[3], "30000") && time.Duration(c.OTelTimeout) != 30*time.Second {
				t.Errorf("the timeout is %s", time.Duration(c.OTelTimeout))
			}
		})
	}
}

func TestBadTelemetry(t *testing.T) {
	for _, tt := range []struct{ environ, want string }{
		{"P8_OTEL_ENABLED=maybe", `P8_OTEL_ENABLED: "maybe" is not valid: give true or false`},
		{"OTEL_EXPORTER_OTLP_PROTOCOL=http/json", `OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" is not valid: give http or grpc`},
		{"P8_OTEL_COLLECTOR_ENDPOINT=ftp://x", `P8_OTEL_COLLECTOR_ENDPOINT: "ftp://x" is not valid: give an http or https URL such as http://localhost:4318`},
		{"P8_OTEL_HEADERS=hunter2", `P8_OTEL_HEADERS is not valid: give NAME=VALUE separated by commas, such as authorization=Bearer%20KEY`},
		{"P8_OTEL_SAMPLER=jaeger_remote", `P8_OTEL_SAMPLER: "jaeger_remote" is not valid: give always_on, always_off, traceidratio, or one of these after parentbased_`},
		{"P8_OTEL_SAMPLER_ARG=2", `P8_OTEL_SAMPLER_ARG: "2" is not valid: give a number from 0 to 1`},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE=/no/such/file", `OTEL_EXPORTER_OTLP_CERTIFICATE: "/no/such/file" is not a file: give a PEM file`},
	} {
		if _, err := load(t, "", nil, tt.environ); err == nil || err.Error() != tt.want {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.environ, err, tt.want)
		}
	}
}

func TestPairs(t *testing.T) {
	list, ok := Pairs("authorization=Bearer%20a%3Db, x-team = core ,,")
	if !ok || len(list) != 2 || list[0] != [2]string{"authorization", "Bearer a=b"} || list[1] != [2]string{"x-team", "core"} {
		t.Errorf("%q, %v", list, ok)
	}
	for _, text := range []string{"a", "=b", "a=%zz", "a=%0d%0ab"} {
		if _, ok := Pairs(text); ok {
			t.Errorf("%q is accepted", text)
		}
	}
}
