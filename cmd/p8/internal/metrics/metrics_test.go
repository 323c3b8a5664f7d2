package metrics_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/cmd/p8/internal/metrics"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a Metrics with a page.
func page(t *testing.T, s metrics.Sources) (*metrics.Metrics, *telemetry.Telemetry, *metrics.Observer) {
	t.Helper()
	s.Logger = slog.New(slog.DiscardHandler)
	m, err := metrics.New(metrics.Options{Page: true, Logger: s.Logger})
	must(t, err)
	all, err := telemetry.New(telemetry.Options{Meter: m.Provider()})
	must(t, err)
	o, err := metrics.Observe(all.Meter(), s)
	must(t, err)
	return m, all, o
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scrape returns the samples of p8 on the page.
func scrape(t *testing.T, m *metrics.Metrics, headers ...string) string {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	m.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func wants(t *testing.T, page string, samples ...string) {
	t.Helper()
	for _, s := range samples {
		if !strings.Contains("\n"+page, "\n"+s+"\n") {
			t.Errorf("%q is not on the page", s)
		}
	}
}

func TestPage(t *testing.T) {
	m, all, _ := page(t, metrics.Sources{
		Version: "v1", Database: "sqlite",
		Quotas: func() quota.Use {
			return quota.Use{Highest: map[quota.Refusal]float64{{Kind: "user", What: "usd"}: 0.5}, Refusals: map[quota.Refusal]uint64{{Kind: "key", What: "requests"}: 3}}
		},
	})
	own, err := metrics.NewMeter(all.Meter())
	must(t, err)
	own.Refused(429, "rate_limit_exceeded")
	own.Streams("ag-ui", 1)
	own.Stored(30 * time.Millisecond)
	_, op := telemetry.Start(telemetry.With(t.Context(), all), telemetry.Chat, "gpt")
	op.String(telemetry.RequestModel, `gp"t\`)
	op.Used(telemetry.Usage{Input: 7})
	op.End(nil)
	text := scrape(t, m)
	wants(t, text, `p8_refusals_total{reason="rate_limit_exceeded",status="429"} 1`, `p8_streams_open{protocol="ag-ui"} 1`, `p8_run_log_delay_seconds_bucket{le="0.05"} 1`,
		`p8_quota_used_ratio{limit="usd",subject="user"} 0.5`, `p8_quota_refusals_total{limit="requests",subject="key"} 3`,
		`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_request_model="gp\"t\\",gen_ai_token_type="input"} 7`)
	for _, has := range []string{`p8_build_info{database="sqlite",goversion="go`, "\ngo_goroutines ", "\nprocess_open_fds ", "\n# HELP p8_refusals_total "} {
		if !strings.Contains(text, has) {
			t.Errorf("%q is not on the page", has)
		}
	}
	if text := scrape(t, m, "Accept", "application/openmetrics-text; version=1.0.0"); !strings.HasSuffix(text, "# EOF\n") || !strings.Contains(text, "# TYPE p8_refusals counter\n") {
		t.Errorf("OpenMetrics: %.500s", text)
	}
	must(t, m.Shutdown(context.Background()))
	if text := scrape(t, m); !strings.Contains(text, "\ngo_goroutines ") {
		t.Errorf("a scrape during the shutdown: %s", text)
	}
}

// TestHostileNames: ten thousand names of each kind leave a page of bounded length.
func TestHostileNames(t *testing.T) {
	many := make([]jobs.KindStats, 10_000)
	for i := range many {
		many[i] = jobs.KindStats{Kind: fmt.Sprintf("kind-%05d", i), States: map[jobs.State]int{jobs.Failed: 1}}
	}
	m, all, o := page(t, metrics.Sources{Jobs: func(context.Context) ([]jobs.KindStats, error) { return many, nil }})
	ctx := telemetry.With(t.Context(), all)
	for i := range 10_000 {
		name := fmt.Sprintf("name \"%d\n", i)
		for kind, key := range map[telemetry.Kind]string{
			telemetry.Agent: telemetry.AgentName, telemetry.Chat: telemetry.RequestModel, telemetry.Tool: telemetry.ToolName, telemetry.MCPServer: telemetry.MCPMethod,
			telemetry.HTTPServer: telemetry.HTTPMethod, telemetry.HTTPClient: telemetry.ServerAddress, telemetry.Evaluation: telemetry.EvaluationName,
		} {
			_, op := telemetry.Start(ctx, kind, name)
			op.String(key, name)
			op.Fail(name)
			op.End(nil)
		}
	}
	text := scrape(t, m)
	wants(t, text, `p8_jobs{kind="other",state="failed"} 9950`)
	series := map[string]int{}
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, "_count{"); ok {
			series[name]++
		}
	}
	if len(series) < 6 || len(text) > 4<<20 {
		t.Errorf("%d metrics, a page of %d bytes", len(series), len(text))
	}
	for name, n := range series {
		if n > 101 {
			t.Errorf("%s has %d series", name, n)
		}
	}
	must(t, m.Shutdown(context.Background()))
	o.Close()
}

// TestFiftyScrapers: they read the database once, and again after some seconds.
func TestFiftyScrapers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		m, _, o := page(t, metrics.Sources{Backlog: func(context.Context) (store.Backlog, error) {
			time.Sleep(time.Second)
			return store.Backlog{Embeddings: reads.Add(1)}, nil
		}})
		for round := range 3 {
			var scrapers sync.WaitGroup
			for range 50 {
				scrapers.Go(func() { wants(t, scrape(t, m), fmt.Sprintf("p8_embedding_queue %d", 1+round/2)) })
			}
			scrapers.Wait()
			time.Sleep(6 * time.Second)
		}
		if n := reads.Load(); n != 2 {
			t.Errorf("%d reads", n)
		}
		must(t, m.Shutdown(t.Context()))
		o.Close()
	})
}

// TestADatabaseThatHangs: a scrape does not wait for it, shows no old numbers, and counts the failure.
func TestADatabaseThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		m, _, o := page(t, metrics.Sources{Jobs: func(ctx context.Context) ([]jobs.KindStats, error) {
			if hangs.Load() {
				<-ctx.Done()
				return nil, errors.New("no answer")
			}
			return []jobs.KindStats{{Kind: "embed", States: map[jobs.State]int{jobs.Pending: 4}}}, nil
		}})
		const waiting = `p8_jobs{kind="embed",state="pending"} 4`
		wants(t, scrape(t, m), waiting)
		hangs.Store(true)
		time.Sleep(30 * time.Second)
		began := time.Now()
		wants(t, scrape(t, m), waiting)
		if d := time.Since(began); d > 3*time.Second {
			t.Errorf("the scrape took %s", d)
		}
		time.Sleep(30 * time.Second)
		text := scrape(t, m)
		wants(t, text, `p8_metrics_failures_total{source="jobs"} 1`)
		if strings.Contains(text, "p8_jobs{") {
			t.Error("numbers that are a minute old are shown")
		}
		must(t, m.Shutdown(t.Context()))
		o.Close()
	})
}

// TestASlowScraper: others are served while it reads byte by byte.
func TestASlowScraper(t *testing.T) {
	m, _, _ := page(t, metrics.Sources{Version: "v1"})
	server := httptest.NewServer(m.Handler())
	defer server.Close()
	res, err := http.Get(server.URL)
	must(t, err)
	slow := bufio.NewReaderSize(res.Body, 16)
	for range 20 {
		if _, err := slow.ReadByte(); err != nil {
			t.Fatal(err)
		}
		if text := scrape(t, m); !strings.Contains(text, "p8_build_info") {
			t.Error("the page is not whole")
		}
	}
	_, err = io.Copy(io.Discard, slow)
	must(t, errors.Join(err, res.Body.Close()))
	must(t, m.Shutdown(context.Background()))
	http.DefaultClient.CloseIdleConnections()
}
