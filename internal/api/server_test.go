package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var created = time.Unix(1760000000, 0)

// server is p8 on a scripted model, with the real chat, catalog and store.
type server struct {
	*api.Handler
	store   *store.Store
	catalog *catalog.Catalog
	tools   *tool.Registry
	chat    *chat.Service
	model   *scripted.Model
	log     *bytes.Buffer
	// file is the store's.
	file string
}

// setup has the options of a test's server.
type setup struct {
	api     api.Options
	noStore bool
	// knowledge answers queries and questions, and takes in files.
	knowledge bool
}

// newServer returns a server whose model plays the turns. Its ids count up and its clock
// stands still.
func newServer(t testing.TB, s setup, turns ...scripted.Turn) *server {
	t.Helper()
	out := &server{model: scripted.New(turns...), log: new(bytes.Buffer)}
	logger := slog.New(slog.NewTextHandler(&lockedWriter{w: out.log}, nil))
	found := catalog.Options{Builtin: os.DirFS("testdata/agents"), Logger: logger}
	conversations := chat.Options{
		Models: models{out.model}, Now: now, NewID: counter("00000000-0000-0000-0000-%012d"), Logger: logger,
		AnswerWithin: 100 * 365 * 24 * time.Hour, // the store's clock goes on
	}
	var err error
	if !s.noStore {
		out.file = filepath.Join(t.TempDir(), "p8.db")
		database.Copy(t, out.file)
		out.store, err = sqlite.Open(context.Background(), sqlite.Options{Path: out.file, Logger: logger})
		must(t, err)
		t.Cleanup(func() { must(t, out.store.Close()) })
		found.Store, conversations.Store, s.api.Store = out.store, out.store, out.store
		s.api.Shares = doors{out.store}
	}
	out.catalog, err = catalog.New(found)
	must(t, err)
	must(t, out.catalog.Sync(context.Background()))
	action, err := builtin.NewAction()
	must(t, err)
	out.tools, err = tool.NewRegistry(search(t), action)
	must(t, err)
	conversations.Catalog, conversations.Tools = out.catalog, &tool.Box{Local: out.tools}
	out.chat, err = chat.New(conversations)
	must(t, err)
	t.Cleanup(func() { must(t, out.chat.Close(context.Background())) })
	s.api.Chat, s.api.Catalog, s.api.Logger = out.chat, out.catalog, logger
	s.api.Now, s.api.NewID, s.api.Version = now, counter("request-%d"), "v0"
	if s.knowledge {
		s.api.Knowledge, s.api.Asker = engine(t, out.store)
		s.api.Files = out.store.Files()
		s.api.Ingest = newIngest(t, out.store)
	}
	s.api.Models = func(context.Context) []string { return []string{out.model.Name()} }
	out.Handler = api.New(s.api)
	return out
}

func newIngest(t testing.TB, s *store.Store) *ingest.Ingester {
	t.Helper()
	in, err := ingest.New(ingest.Options{Store: ingest.Over(s)})
	must(t, err)
	return in
}

// doors opens shared sessions, as the program does.
type doors struct{ *store.Store }

func (d doors) OpenLink(ctx context.Context, secret string) (identity.Identity, store.Share, error) {
	return d.Maintenance().OpenLink(ctx, secret)
}

func now() time.Time { return created }

func counter(format string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf(format, n.Add(1)) }
}

// models has one model under every name, and lacks one provider.
type models struct{ llm.Model }

func (m models) Resolve(name string) (llm.Model, error) {
	if strings.HasPrefix(name, "opneai:") {
		return nil, &llm.Error{Kind: llm.NotFound, Model: name, Hint: `did you mean "openai"?`}
	}
	return m.Model, nil
}

// search is a tool that finds everything.
func search(t testing.TB) tool.Tool {
	found, err := tool.New("search", "Finds things.", func(_ context.Context, in struct {
		Query string `json:"query"`
	}) (any, error) {
		if in.Query == "" {
			return nil, &tool.Error{Message: "the query is empty"}
		}
		return map[string]any{"found": in.Query}, nil
	})
	must(t, err)
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lockedWriter is a log that handlers of several requests may write to.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// request makes a request to the loopback name; header lines are "Name: value".
func request(method, path, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:8000"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return r
}

// do sends a request and returns the whole answer.
func (s *server) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request(method, path, body, headers...))
	return w
}
