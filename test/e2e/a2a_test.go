package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestBodyOfA2A: P8_MAX_BODY_BYTES bounds the requests of this protocol, too.
func TestBodyOfA2A(t *testing.T) {
	server := harness.Serve(t, harness.Options{Env: []string{
		"P8_DEFAULT_MODEL=offline:search", "P8_SCHEMA_DIR=" + agents(t), "P8_A2A_AGENTS=*", "P8_MAX_BODY_BYTES=2000",
	}})
	for size, want := range map[int]int{1000: http.StatusOK, 3000: http.StatusRequestEntityTooLarge} {
		body := `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"` + strings.Repeat("a", size) + `"}}`
		res, err := http.Post(server.URL+"/a2a/clerk", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: %s", size, res.Status)
		}
	}
}
