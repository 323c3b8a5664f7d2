// Package memory_test tests memory end to end: sessions of a thousand turns, facts that
// are found again, several servers that sum up at once, processes that die in a dream,
// reminders in other time zones, and isolation between users. The server is the real
// binary, the model npm aimock or a script.
package memory_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// person is a caller.
type person struct{ tenant, email string }

func (p person) headers() map[string]string {
	switch {
	case p.email == "" && p.tenant == "":
		return nil
	case p.email == "":
		return map[string]string{"X-Tenant-Id": p.tenant}
	}
	return map[string]string{"X-Tenant-Id": p.tenant, "X-User-Id": identity.UserID(p.email), "X-User-Email": p.email}
}

var (
	alice   = person{"acme", "alice@example.com"}
	bob     = person{"acme", "bob@example.com"}
	nobody  = person{}
	foreign = person{"globex", "alice@example.com"}
)

// send makes a request as a user; body is JSON, nil for none.
func send(t *testing.T, s *harness.Server, who person, method, path string, body any) (int, []byte) {
	t.Helper()
	return sendWith(t, s, who, method, path, body, nil)
}

// sendWith is send, with more headers.
func sendWith(t *testing.T, s *harness.Server, who person, method, path string, body any, headers map[string]string) (int, []byte) {
	t.Helper()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, in)
	if err != nil {
		t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range who.headers() {
		req.Header.Set(name, value)
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out
}

// get reads JSON as a user.
func get(t *testing.T, s *harness.Server, who person, path string, into any) {
	t.Helper()
	status, body := send(t, s, who, http.MethodGet, path, nil)
	if status != http.StatusOK {
		t.Fatalf("GET %s: status %d: %s", path, status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v in %s", path, err, body)
	}
}

// query runs a REM query as a user and returns the raw answer.
func query(t *testing.T, s *harness.Server, who person, text string) string {
	t.Helper()
	status, body := send(t, s, who, http.MethodPost, "/query/raw", map[string]string{"query": text})
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", text, status, body)
	}
	return string(body)
}

// patience is how long background work may take.
const patience = 60 * time.Second

// await asks until something is so.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// agents is the folder of the documents of these tests.
func agents(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
