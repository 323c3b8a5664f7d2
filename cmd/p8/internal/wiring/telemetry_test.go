package wiring_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// collector takes spans over OTLP/HTTP.
type collector struct {
	mu    sync.Mutex
	raw   bytes.Buffer
	spans []*tracepb.Span
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	message := &coltracepb.ExportTraceServiceRequest{}
	unzipped, err := gzip.NewReader(r.Body)
	if r.URL.Path != "/v1/traces" || err != nil {
		return // metrics
	}
	raw, err := io.ReadAll(unzipped)
	if err != nil || proto.Unmarshal(raw, message) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(raw)
	for _, resource := range message.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// tree draws the spans of a trace whose names keep allows, below the nearest such span above
// them. Equal siblings are one line.
func (c *collector) tree(trace, root string, keep func(*tracepb.Span) bool) string {
	by := map[string]*tracepb.Span{}
	for _, s := range c.spans {
		by[hex.EncodeToString(s.SpanId)] = s
	}
	parent := func(s *tracepb.Span) string {
		for {
			id := hex.EncodeToString(s.ParentSpanId)
			if above := by[id]; above == nil || keep(above) {
				return id
			} else {
				s = above
			}
		}
	}
	slices.SortFunc(c.spans, func(a, b *tracepb.Span) int { return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano)) })
	var out strings.Builder
	var draw func(id string, depth int)
	draw = func(id string, depth int) {
		last := ""
		for _, s := range c.spans {
			if hex.EncodeToString(s.TraceId) != trace || !keep(s) || parent(s) != id {
				continue
			}
			var below strings.Builder
			out, below = below, out
			draw(hex.EncodeToString(s.SpanId), depth+1)
			out, below = below, out
			line := strings.Repeat("  ", depth) + s.Name + "\n" + below.String()
			if line != last {
				out.WriteString(line)
			}
			last = line
		}
	}
	draw(root, 0)
	return out.String()
}

const (
	key     = "sk-proj-" + "Zk3vT9wQ2mN8xL4bR7yD5cF1hJ6gS0aP"
	address = "sarah.chen@example.com"
)

// TestTelemetry: an agent asks another one, which calls a tool of this server over MCP. A
// collector gets all of it as one trace, that of the client, with contents and without secrets.
func TestTelemetry(t *testing.T) {
	took := new(collector)
	receiver := httptest.NewServer(took)
	defer receiver.Close()
	model := harness.NewFake(t, func(x harness.Exchange) harness.Reply {
		question, answered := x.Question()
		switch {
		case answered:
			return harness.Reply{Text: []string{"They sleep ", "all winter."}}
		case strings.Contains(question, "Ask the worker"):
			return harness.Reply{Calls: []harness.Call{{ID: "c1", Name: "ask_agent", Arguments: `{"agent_name":"worker","input_text":"hedgehogs of ` + address + `"}`}}}
		}
		return harness.Reply{Calls: []harness.Call{{ID: "c2", Name: "search", Arguments: `{"query":"LOOKUP hedgehogs"}`}}}
	})
	var handler atomic.Pointer[http.Handler]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) }))
	defer server.Close()

	dir := t.TempDir()
	for name, text := range map[string]string{
		"boss.yaml":   "type: object\nname: boss\ndescription: You ask others. The key is " + key + ".\ntools: [ask_agent]\nagents: [worker]\n",
		"worker.yaml": "type: object\nname: worker\ndescription: You search.\ntools: [{name: search, mcp_server: self}]\n",
	} {
		ok(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	database.Copy(t, filepath.Join(dir, "p8.db"))
	cfg, err := config.Load(config.Options{Environ: append(model.Env(),
		"HOME="+dir, "P8_DATA_DIR="+dir, "P8_SCHEMA_DIR="+dir, "P8_MANUAL=false", "MCP_SERVER_SELF="+server.URL+"/mcp",
		"P8_OTEL_COLLECTOR_ENDPOINT="+receiver.URL, "P8_OTEL_CONTENT=true", "P8_OTEL_RESOURCE_ATTRIBUTES=team=blue")})
	ok(t, err)
	log := new(bytes.Buffer)
	p, err := wiring.Open(t.Context(), cfg, wiring.Options{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo})), Serves: true})
	ok(t, err)
	callers, err := wiring.Callers(cfg, p.Store, p.Log)
	ok(t, err)
	p.MCP, err = p.NewMCP(cfg)
	ok(t, err)
	var h http.Handler = p.Handler(cfg, callers)
	handler.Store(&h)

	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/chat/completions",
		strings.NewReader(`{"model":"boss","messages":[{"role":"user","content":"Ask the worker; I am `+address+`"}]}`))
	ok(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
	req.Header.Set("Baggage", "secret=baggage-of-the-caller")
	res, err := http.DefaultClient.Do(req)
	ok(t, err)
	answer, err := io.ReadAll(res.Body)
	ok(t, err)
	res.Body.Close()
	if !strings.Contains(string(answer), "all winter") {
		t.Fatalf("%d %s", res.StatusCode, answer)
	}
	if !strings.Contains(log.String(), "trace_id="+trace) {
		t.Errorf("the access log is\n%s", log)
	}
	p.MCP.Close() // ends the streams of its clients
	server.Close()
	p.Close()

	golden.Compare(t, "testdata/spans.txt", took.tree(trace, parent, func(s *tracepb.Span) bool {
		return !slices.ContainsFunc(s.Attributes, func(a *commonpb.KeyValue) bool { return a.Key == "db.system.name" })
	}))
	raw := took.raw.String()
	for _, secret := range []string{key, address, harness.ProviderKey, "baggage-of-the-caller"} {
		if strings.Contains(raw, secret) {
			t.Errorf("the collector got %q", secret)
		}
	}
	for _, told := range []string{"all winter.", "[email]", "team", "p8-api", "gen_ai.input.messages", "llm.input_messages.0.message.role", "service.version", "db.operation.name"} {
		if !strings.Contains(raw, told) {
			t.Errorf("the collector did not get %q", told)
		}
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
