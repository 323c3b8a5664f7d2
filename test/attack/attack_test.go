package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// limit is what the server may use.
const limit = 1500 << 20

func pause(ctx context.Context) { rest(ctx, 20*time.Millisecond) }

func rest(ctx context.Context, long time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}

// TestAttacks sends each attack while another client chats. Nothing here may
// take the server from that client, or more memory than the server has.
func TestAttacks(t *testing.T) {
	env := append(provider(t), "P8_MODEL_SILENCE=2s", "P8_RUN_TIMEOUT=60s")
	if !harness.Long(t) {
		env = append(env, "P8_EXTRACT_MEMORY=64MB") // a file reaches it in a quarter of the time
	}
	s := harness.Serve(t, harness.Options{Memory: limit, Env: env})
	for _, a := range []struct {
		name   string
		strike func(*testing.T, *harness.Server)
	}{
		{"a schema as an agent", schemaAsAgent},
		{"a schema of a client's tool", schemaOfTool},
		{"a schema of an answer", schemaOfAnswer},
		{"files", files},
		{"endless answers", endlessAnswers},
		{"ten thousand calls", tenThousandCalls},
		{"a silent model", silentModel},
		{"slow SQL", slowSQL},
	} {
		t.Run(a.name, func(t *testing.T) {
			other := chatting(t, s)
			a.strike(t, s)
			other.end(t)
			if _, peak := s.Memory(t); peak > limit>>20 {
				t.Errorf("the server used %d MB", peak)
			} else {
				t.Logf("peak so far %d MB", peak)
			}
		})
	}
}

// client chats until it is stopped, and notes how long each turn took.
type client struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	took   []time.Duration
	failed []string
}

func chatting(t *testing.T, s *harness.Server) *client {
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{cancel: cancel}
	c.done.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			begun := time.Now()
			status, body := send(ctx, s, "/v1/chat/completions", "victim", chat("good morning", nil))
			if ctx.Err() != nil {
				return
			}
			c.mu.Lock()
			c.took = append(c.took, time.Since(begun))
			if status != http.StatusOK || !strings.Contains(body, "Good day.") {
				c.failed = append(c.failed, fmt.Sprintf("%d %.300s", status, body))
			}
			c.mu.Unlock()
			rest(ctx, 100*time.Millisecond) // the attack takes the time, not its victim
		}
	})
	return c
}

// end is called when the attack is over: no turn may have failed.
func (c *client) end(t *testing.T) {
	c.cancel()
	c.done.Wait()
	slices.Sort(c.took)
	if len(c.failed) > 0 {
		t.Errorf("%d of %d turns of the other client failed: %s", len(c.failed), len(c.took), c.failed[0])
	}
	if n := len(c.took); n > 0 {
		t.Logf("%d turns of the other client, p50 %s, p99 %s, longest %s", n, c.took[n/2], c.took[n*99/100], c.took[n-1])
	}
}

// chat is a request's body with more fields.
func chat(text string, more map[string]any) map[string]any {
	b := map[string]any{"model": "general", "messages": []any{map[string]any{"role": "user", "content": text}}}
	for k, v := range more {
		b[k] = v
	}
	return b
}

// send posts JSON as a user of a tenant.
func send(ctx context.Context, s *harness.Server, path, tenant string, v any) (int, string) {
	b, _ := json.Marshal(v)
	return post(ctx, s, path, tenant, "application/json", b)
}

func post(ctx context.Context, s *harness.Server, path, tenant, mediaType string, body []byte) (int, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Content-Type", mediaType)
	req.Header.Set("X-Tenant-Id", tenant)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(text)
}

// refused holds an answer against what a client may be told: a status of its own
// fault, and no words from inside.
func refused(t *testing.T, name string, status int, body string) {
	t.Helper()
	if status < 400 || status >= 500 {
		t.Errorf("%s: %d %.300s", name, status, body)
		return
	}
	t.Logf("%s: %d %.200s", name, status, body)
}

// explosion is a schema of 3 KB with 2^40 ways through it.
func explosion() map[string]any {
	defs := map[string]any{"d40": map[string]any{"type": "integer"}}
	for i := range 40 {
		next := map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", i+1)}
		defs[fmt.Sprintf("d%d", i)] = map[string]any{"anyOf": []any{next, next}}
	}
	return map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"$ref": "#/$defs/d0"}}, "required": []any{"a"}, "$defs": defs}
}

func schemaAsAgent(t *testing.T, s *harness.Server) {
	doc := explosion()
	doc["name"], doc["description"], doc["structured_output"] = "boom", "You explode.", true
	status, body := send(t.Context(), s, "/schemas", "attacker", doc)
	refused(t, "an agent", status, body)
}

func schemaOfTool(t *testing.T, s *harness.Server) {
	tool := map[string]any{"type": "function", "function": map[string]any{"name": "boom", "parameters": explosion()}}
	status, body := send(t.Context(), s, "/v1/chat/completions", "attacker", chat("hello", map[string]any{"tools": []any{tool}}))
	refused(t, "a tool", status, body)
}

func schemaOfAnswer(t *testing.T, s *harness.Server) {
	format := map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "boom", "strict": false, "schema": explosion()}}
	status, body := send(t.Context(), s, "/v1/chat/completions", "attacker", chat("hello", map[string]any{"response_format": format}))
	refused(t, "an answer", status, body)
}

// files uploads two at a time, each hostile in its own way.
func files(t *testing.T, s *harness.Server) {
	var all sync.WaitGroup
	room := make(chan struct{}, 2)
	for _, f := range uploads(t) {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			var form bytes.Buffer
			m := multipart.NewWriter(&form)
			w, err := m.CreateFormFile("file", f.name)
			if err == nil {
				_, err = w.Write(f.body)
			}
			if err == nil {
				err = m.Close()
			}
			if err != nil {
				t.Error(err)
				return
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			status, body := post(ctx, s, "/content", "attacker", m.FormDataContentType(), form.Bytes())
			switch {
			case status == http.StatusCreated, status >= 400 && status < 500:
				t.Logf("%s: %d %.200s", f.name, status, body)
			case f.name == "huge.md" && status == 0: // the server closed the connection before it had read everything
				t.Logf("%s: %s", f.name, body)
			default:
				t.Errorf("%s: %d %.300s", f.name, status, body)
			}
		})
	}
	all.Wait()
}

// endlessAnswers: 20 models, 5 in the short form, talk at once and never stop by
// themselves.
func endlessAnswers(t *testing.T, s *harness.Server) {
	var all sync.WaitGroup
	for range harness.Count(t, 5, 20) {
		all.Go(func() {
			status, body := send(t.Context(), s, "/v1/chat/completions", "attacker", chat(endless, map[string]any{"stream": true}))
			if status != http.StatusOK || !strings.Contains(body, `"length"`) && !strings.Contains(body, `"error"`) {
				t.Errorf("an endless answer: %d, %d bytes, … %s", status, len(body), body[max(0, len(body)-500):])
			}
		})
	}
	all.Wait()
}

// tenThousandCalls: the model learns which calls were not made.
func tenThousandCalls(t *testing.T, s *harness.Server) {
	status, body := send(t.Context(), s, "/v1/chat/completions/greedy", "attacker", chat(greedy, map[string]any{"stream": true}))
	executing := strings.Count(body, `"status":"executing"`)
	if status != http.StatusOK || executing == 0 || executing > 1000 {
		t.Errorf("%d, %d calls made: … %s", status, executing, body[max(0, len(body)-500):])
	}
	t.Logf("%d calls made", executing)
}

// silentModel: comments are no sign of life.
func silentModel(t *testing.T, s *harness.Server) {
	status, body := send(t.Context(), s, "/v1/chat/completions", "attacker", chat(silent, nil))
	if status < 500 || strings.Contains(body, "127.0.0.1") {
		t.Errorf("a silent model: %d %.300s", status, body)
	}
	t.Logf("%d %.300s", status, body)
}

// slowSQL: eight clients of one tenant count for ever; another tenant counts its
// own rows meanwhile.
func slowSQL(t *testing.T, s *harness.Server) {
	const slow = "SQL WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	over := make(chan struct{})
	for range 8 {
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					send(ctx, s, "/query/raw", "attacker", map[string]any{"query": slow})
				}
			}
		})
	}
	var took []time.Duration
	for range harness.Count(t, 10, 40) {
		begun := time.Now()
		status, body := send(ctx, s, "/query/raw", "victim", map[string]any{"query": "SQL SELECT count(*) FROM sessions"})
		took = append(took, time.Since(begun))
		if status != http.StatusOK {
			t.Errorf("the other tenant's query: %d %.300s", status, body)
		}
		pause(ctx)
	}
	close(over)
	all.Wait()
	slices.Sort(took)
	t.Logf("count(*) of the other tenant: p50 %s, longest %s", took[len(took)/2], took[len(took)-1])
}
