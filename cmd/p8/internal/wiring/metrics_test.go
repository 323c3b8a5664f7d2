package wiring

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/p8-org/p8/cmd/p8/internal/metrics"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/telemetry"
)

// series is what a page of metrics has: the labels of each metric by its name in expressions, and
// the names of all families with their help.
type series struct {
	labels map[string][]string
	help   map[string]string
}

func read(page string) series {
	s := series{map[string][]string{}, map[string]string{}}
	label := regexp.MustCompile(`[{,](\w+)="`)
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if about, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, text, _ := strings.Cut(about, " ")
			s.help[name] = text
		} else if !strings.HasPrefix(line, "#") {
			name := line[:strings.IndexAny(line, "{ ")]
			for _, m := range label.FindAllStringSubmatch(line, -1) {
				s.labels[name] = append(s.labels[name], m[1])
			}
			s.labels[name] = append(s.labels[name], "job", "instance") // Prometheus adds them
		}
	}
	return s
}

// metered is a server after a run with a tool, and a refused request.
func metered(t *testing.T) http.Handler {
	t.Helper()
	dir := t.TempDir()
	database.Copy(t, dir+"/p8.db")
	cfg, err := config.Load(config.Options{Environ: []string{
		"P8_DATA_DIR=" + dir, "P8_DEFAULT_MODEL=offline:search", "P8_QUOTA_USER=requests=1000,runs=10,tokens=1M,usd=5", "P8_AUTH_KEYS=true", "P8_API_KEY=0123456789abcdef0123",
	}})
	must(t, err)
	p, err := Open(t.Context(), cfg, Options{Log: slog.New(slog.DiscardHandler), Serves: true})
	must(t, err)
	t.Cleanup(p.Close)
	callers, err := Callers(cfg, p.Store, p.Log)
	must(t, err)
	work, err := p.StartBackground(t.Context(), cfg)
	must(t, err)
	t.Cleanup(work.Close)
	h := p.Handler(cfg, callers)
	must(t, p.Observe(cfg, callers, func() int { return 1 }))
	if code, body := call(h, "POST", "/v1/chat/completions", `{"model":"general","stream":true,"messages":[{"role":"user","content":"How do I write an agent?"}]}`); code != 200 || !strings.Contains(body, "[DONE]") {
		t.Fatalf("%d %s", code, body)
	}
	r := httptest.NewRequest("GET", "/sessions", nil)
	r.Header.Set("Authorization", "Bearer wrong")
	h.ServeHTTP(httptest.NewRecorder(), r)
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func call(h http.Handler, method, path, body string) (int, string) {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer 0123456789abcdef0123")
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// whole returns a page with an operation of each kind, with all attributes: the run has only some.
func whole(t *testing.T) string {
	m, err := metrics.New(metrics.Options{Page: true, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	all, err := telemetry.New(telemetry.Options{Meter: m.Provider()})
	must(t, err)
	ctx := telemetry.With(t.Context(), all)
	for k := telemetry.Agent; k <= telemetry.Job; k++ {
		_, op := telemetry.Start(ctx, k, "x")
		for _, key := range []string{
			telemetry.AgentName, telemetry.Provider, telemetry.RequestModel, telemetry.ResponseModel, telemetry.ToolName, telemetry.ToolType, telemetry.DataSource, telemetry.EvaluationName,
			telemetry.MCPMethod, telemetry.HTTPMethod, telemetry.HTTPRoute, telemetry.ServerAddress, telemetry.DBSystem, telemetry.DBOperation, telemetry.JobKind,
		} {
			op.String(key, "x")
		}
		op.Int(telemetry.HTTPStatus, 500)
		op.Chunk()
		op.Chunk()
		op.Used(telemetry.Usage{Input: 1, Output: 1, USD: 1})
		op.Fail("500")
		op.End(nil)
	}
	_, err = metrics.Observe(all.Meter(), metrics.Sources{Quotas: func() quota.Use {
		return quota.Use{Refusals: map[quota.Refusal]uint64{{Kind: "user", What: "usd"}: 1}}
	}})
	must(t, err)
	_, page := call(m.Handler(), "GET", "/metrics", "")
	must(t, m.Shutdown(t.Context()))
	return page
}

// TestDashboardAndAlerts: what the dashboard and the alert rules select is on the page of metrics,
// and every metric on the page has a help text and is in the documentation.
func TestDashboardAndAlerts(t *testing.T) {
	h := metered(t)
	code, page := call(h, "GET", "/metrics", "")
	if code != 200 {
		t.Fatalf("%d %s", code, page)
	}
	for _, name := range []string{
		"http_server_request_duration_seconds", "p8_run_log_delay_seconds", "p8_streams_open", "p8_refusals_total", "p8_jobs", "p8_runs_active",
		"p8_quota_used_ratio", "p8_store_pool_in_use", "p8_embedding_queue", "p8_approvals_waiting", "p8_connections_open", "go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(page, "\n# HELP "+name+" ") {
			t.Errorf("%s is not measured in a run", name)
		}
	}
	for _, secret := range []string{"0123456789abcdef0123", "How do I", "@example"} {
		if strings.Contains(page, secret) {
			t.Errorf("%q is on the page", secret)
		}
	}
	s := read(page + whole(t))
	expressions := append(panels(t), rules(t)...)
	if len(expressions) < 50 {
		t.Errorf("only %d expressions", len(expressions))
	}
	var reports []struct {
		Error   string
		Metrics map[string][]string
	}
	harness.GoClient(t, "promql-go", expressions, &reports)
	for i, r := range reports {
		if r.Error != "" {
			t.Errorf("%s: %s", expressions[i], r.Error)
		}
		for name, labels := range r.Metrics {
			has, ok := s.labels[name]
			if !ok && name != "up" {
				t.Errorf("%s: there is no metric %s", expressions[i], name)
			}
			for _, l := range labels {
				if ok && l != "le" && !slices.Contains(has, l) {
					t.Errorf("%s: %s has no label %s", expressions[i], name, l)
				}
			}
		}
	}
	documented(t, s)
}

func documented(t *testing.T, s series) {
	raw, err := os.ReadFile(filepath.Join(harness.Root(t), "docs", "metrics.md"))
	must(t, err)
	docs := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:p8|gen_ai|db|http|mcp|go|process)_[a-z0-9_]+)`").FindAllStringSubmatch(string(raw), -1) {
		docs[m[1]] = true
	}
	for name, about := range s.help {
		own := !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && name != "target_info"
		if about == "" {
			t.Errorf("%s has no help text", name)
		}
		if own && !docs[name] {
			t.Errorf("docs/metrics.md does not have %s", name)
		}
		delete(docs, name)
	}
	for _, labels := range s.labels {
		for _, l := range labels {
			delete(docs, l)
		}
	}
	for name := range docs {
		t.Errorf("docs/metrics.md has %s, which is no metric", name)
	}
}

// panels are the expressions of the dashboard, with its variables replaced.
func panels(t *testing.T) (all []string) {
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	raw, err := os.ReadFile(filepath.Join(harness.Root(t), "deploy", "grafana", "p8.json"))
	must(t, err)
	must(t, json.Unmarshal(raw, &d))
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, strings.NewReplacer("$__rate_interval", "5m", "$job", "p8").Replace(target.Expr))
		}
	}
	return all
}

// rules are the expressions of the alerts.
func rules(t *testing.T) (all []string) {
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      struct{ Severity string }
				Annotations struct{ Summary string }
			}
		}
	}
	raw, err := os.ReadFile(filepath.Join(harness.Root(t), "deploy", "prometheus", "alerts.yaml"))
	must(t, err)
	must(t, yaml.Unmarshal(raw, &file))
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Annotations.Summary == "" || !slices.Contains([]string{"info", "warning", "critical"}, r.Labels.Severity) {
				t.Errorf("an alert lacks a name, a summary or a severity: %s", fmt.Sprint(r))
			}
			all = append(all, r.Expr)
		}
	}
	return all
}
