package operate

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/config"
)

// TestAsides: metrics and profiles have addresses of their own, which nothing else is at.
func TestAsides(t *testing.T) {
	cfg, err := config.Load(config.Options{Environ: []string{"HOME=" + t.TempDir(), "P8_METRICS_ADDR=0", "P8_PPROF_ADDR=:0"}})
	must(t, err)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "p8_runs 3\n") })
	at, all, err := newAsides(cfg, page, slog.New(slog.DiscardHandler))
	must(t, err)
	defer closeAsides(all)
	base := strings.TrimSuffix(at, "/metrics")
	for _, c := range []struct {
		url, host string
		status    int
		has       string
	}{
		{at, "", 200, "p8_runs 3"},
		{at, "localhost", 200, "p8_runs 3"},
		{at, "evil.example", 403, "127.0.0.1"},
		{base + "/debug/pprof/", "", 404, ""},
		{base + "/sessions", "", 404, ""},
		{address(all[1].listener) + "/debug/pprof/", "", 200, "goroutine"},
		{address(all[1].listener) + "/debug/pprof/heap?debug=1", "", 200, "heap profile"},
		{address(all[1].listener) + "/debug/pprof/heap", "evil.example:6060", 403, ""},
		{address(all[1].listener) + "/metrics", "", 404, ""},
	} {
		r, err := http.NewRequest(http.MethodGet, c.url, nil)
		must(t, err)
		r.Host = c.host
		res, err := http.DefaultClient.Do(r)
		must(t, err)
		body, err := io.ReadAll(res.Body)
		must(t, err)
		res.Body.Close()
		if res.StatusCode != c.status || !strings.Contains(string(body), c.has) {
			t.Errorf("%s as %q: %d %.200s", c.url, c.host, res.StatusCode, body)
		}
		if host, _, _ := net.SplitHostPort(res.Request.URL.Host); host != "127.0.0.1" {
			t.Errorf("%s is no address of this machine", c.url)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	taken, err := config.Load(config.Options{Environ: []string{"HOME=" + t.TempDir(), "P8_METRICS_ADDR=" + strings.TrimPrefix(base, "http://")}})
	must(t, err)
	if _, _, err := newAsides(taken, page, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "P8_METRICS_ADDR cannot be used, as port ") {
		t.Errorf("a port that is in use: %v", err)
	}
}
