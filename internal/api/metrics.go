package api

import (
	"net/http"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
)

// metricsRoute adds GET /metrics. The numbers are of all tenants: they are for the operator, who
// has the deployment's own key, or the machine of a server without authentication.
func metricsRoute(api *rest.API, metrics http.Handler) {
	op := rest.Operation("metrics", http.MethodGet, "/metrics", "Metrics of the server for Prometheus", "operation")
	rest.Answers(&op, map[string]string{
		"200": "Prometheus's text format, or OpenMetrics if Accept asks for it.", "403": "The caller is not the operator of the server.",
	})
	api.Route(op, func(w http.ResponseWriter, r *http.Request) (int, any, error) {
		id, err := identity.From(r.Context())
		switch {
		case err != nil:
			return 0, nil, err
		case !id.Operates():
			return 0, nil, &problem.Problem{Status: http.StatusForbidden, Code: "forbidden", Message: "the metrics are of all tenants: they need the deployment's own key (P8_API_KEY), or the address P8_METRICS_ADDR"}
		case metrics == nil:
			return 0, nil, &problem.Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there are no metrics here: they are at the address in P8_METRICS_ADDR, or off"}
		}
		metrics.ServeHTTP(w, r)
		return 0, nil, nil
	})
}
