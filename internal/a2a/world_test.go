package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

var (
	_ a2a.Store  = (*store.Store)(nil)
	_ a2a.Hooks  = store.Maintenance{}
	_ a2a.Leases = store.Leases{}
	_ a2a.Queue  = (*jobs.Queue)(nil)
)

// world is the real thing on a database of its own. The agent general says "Done.", after
// the text wait only when it is stopped; keeper asks before it writes.
type world struct {
	*a2a.Server
	t     *testing.T
	store *store.Store
	chat  *chat.Service
	queue *jobQueue
	// folder has the database.
	folder string
	// o is what more servers on the same database are made with.
	o a2a.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	folder := t.TempDir()
	s := database.OpenAt(t, filepath.Join(folder, "p8.db"))
	quiet := slog.New(slog.DiscardHandler)
	found, err := catalog.New(catalog.Options{Builtin: fstest.MapFS{
		"general.yaml": {Data: []byte("type: object\nname: general\ndescription: You help.\n")},
		"keeper.yaml":  {Data: []byte("type: object\nname: keeper\ndescription: You keep.\ntools: [{name: write, approval: always}]\n")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	base, err := tool.NewBase(llm.ToolSpec{Name: "write", Description: "Writes.", Parameters: json.RawMessage(`{"type":"object"}`)})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewRegistry(writes{base})
	if err != nil {
		t.Fatal(err)
	}
	chats, err := chat.New(chat.Options{
		Catalog: found, Store: s, Tools: &tool.Box{Local: tools}, Logger: quiet, Attempts: 3,
		Models:  one{scripted.New(scripted.Call("write", `{"text":"otters"}`), scripted.Text("Written."))},
		Scripts: map[string]chat.Script{"general": general},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = chats.Close(now)
	})
	w := &world{t: t, store: s, chat: chats, queue: new(jobQueue), folder: folder}
	w.o = a2a.Options{
		Chat: chats, Catalog: found, Store: s, Hooks: s.Maintenance(), Leases: s.Leases(), Queue: w.queue, Seal: ring("one"),
		Agents: []string{"general", "keeper"}, Resumes: true, PrivateHooks: true, Logger: quiet,
	}
	w.Server = w.another()
	return w
}

// another is one more server on the same database.
func (w *world) another() *a2a.Server {
	w.t.Helper()
	s, err := a2a.New(w.o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// general answers at once, and after "wait" when it is stopped.
func general(ctx context.Context, input string, _ map[string]string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if !yield(event.NewText("Done."), nil) {
			return
		}
		if strings.HasPrefix(input, "wait") {
			<-ctx.Done()
			yield(event.Event{}, context.Cause(ctx))
			return
		}
		yield(event.New(&event.DoneData{Reason: event.ReasonStop}), nil)
	}
}

type writes struct{ tool.Base }

func (writes) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Content: "written"}, nil
}

type one struct{ llm.Model }

func (m one) Resolve(string) (llm.Model, error) { return m.Model, nil }

// as sends a request of a user.
func (w *world) as(user, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	ctx := identity.With(w.t.Context(), identity.Identity{UserID: user, TenantID: "acme"})
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got := httptest.NewRecorder()
	w.ServeHTTP(got, r)
	return got
}

// reply is the answer to a call.
type reply struct {
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
	}
}

// call makes a call of the user ann over JSON-RPC.
func (w *world) call(method, params string) reply {
	w.t.Helper()
	return w.callAs("ann", "general", method, params)
}

func (w *world) callAs(user, agent, method, params string) (r reply) {
	w.t.Helper()
	got := w.as(user, "POST", "/a2a/"+agent, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	if err := json.Unmarshal(got.Body.Bytes(), &r); err != nil {
		w.t.Fatalf("%s: %v\n%s", method, err, got.Body)
	}
	return r
}

// get reads the result of a call, which must not fail.
func get[T any](t *testing.T, r reply) (v T) {
	t.Helper()
	if r.Error.Code != 0 {
		t.Fatalf("error %d: %s", r.Error.Code, r.Error.Message)
	}
	if err := json.Unmarshal(r.Result, &v); err != nil {
		t.Fatalf("%v\n%s", err, r.Result)
	}
	return v
}

// aTask is a task as a client reads it.
type aTask struct {
	ID, ContextID string
	Status        struct{ State, Timestamp string }
	Artifacts     []struct{ Parts []struct{ Text string } }
	History       []struct {
		Role, MessageID, TaskID string
		Parts                   []map[string]any
	}
}

// begun sends a message and returns its task.
func (w *world) begun(text, more string) aTask {
	w.t.Helper()
	return w.begunAs("ann", "general", text, more)
}

func (w *world) begunAs(user, agent, text, more string) aTask {
	w.t.Helper()
	return get[struct{ Task aTask }](w.t, w.callAs(user, agent, "SendMessage", sendParams(text, more))).Task
}

func sendParams(text, more string) string {
	return fmt.Sprintf(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":%q}]%s}`, text, more) + "}"
}

// atOnce are the parameters of a message that does not wait.
const atOnce = `},"configuration":{"returnImmediately":true`

// jobQueue keeps jobs until the test runs them.
type jobQueue struct {
	mu   sync.Mutex
	jobs []queued
}

type queued struct {
	key  string
	args json.RawMessage
	done bool
}

func (q *jobQueue) Enqueue(_ context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if kind != a2a.KindPush || o.UniqueKey == "" {
		return jobs.Receipt{}, errors.New("not a job of this room")
	}
	for _, j := range q.jobs {
		if j.key == o.UniqueKey && !j.done {
			return jobs.Receipt{Duplicate: true}, nil
		}
	}
	raw, err := json.Marshal(args)
	q.jobs = append(q.jobs, queued{key: o.UniqueKey, args: raw})
	return jobs.Receipt{}, err
}

// run looks for changes and runs the jobs that wait, once each. A job that fails stays.
func (w *world) run(servers ...*a2a.Server) (failed []error) {
	w.t.Helper()
	for _, s := range append(servers, w.Server) {
		if err := s.Tell(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
	for i := range w.queue.jobs {
		j := &w.queue.jobs[i]
		if j.done {
			continue
		}
		err := w.Worker().Run(w.t.Context(), j.args)
		if j.done = err == nil; err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// webhook is a server that keeps what it is sent.
type webhook struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []*http.Request
	bodies []string
}

func newWebhook(t *testing.T) *webhook {
	h := &webhook{status: http.StatusOK}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b strings.Builder
		_ = r.Write(&b)
		h.mu.Lock()
		defer h.mu.Unlock()
		_, body, _ := strings.Cut(b.String(), "\r\n\r\n")
		h.got, h.bodies = append(h.got, r), append(h.bodies, body)
		w.WriteHeader(h.status)
	}))
	t.Cleanup(h.Close)
	return h
}

// states are those that the webhook was told.
func (h *webhook) states() (states []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.bodies {
		_, rest, _ := strings.Cut(b, `"state":"`)
		state, _, _ := strings.Cut(rest, `"`)
		states = append(states, strings.TrimPrefix(state, "TASK_STATE_"))
	}
	return states
}
