package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestEvaluation runs a dataset over two agents and two models at a provider that refuses
// requests and cuts answers. The process is killed halfway and the evaluation resumed: it is
// complete, and nothing that was answered is paid for twice.
func TestEvaluation(t *testing.T) {
	cases := harness.Count(t, 20, 200)
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"alpha", "beta"} {
		write("agents/"+name+".yaml", "name: "+name+"\ndescription: You count.\n")
	}
	type fixture struct {
		Match    map[string]string `json:"match"`
		Response map[string]string `json:"response"`
	}
	var fixtures []fixture
	var data strings.Builder
	for i := range cases {
		question := fmt.Sprintf("case %03d: which number is it?", i)
		fmt.Fprintf(&data, `{"id":"%03d","input":%q,"expected":"number %03d.","category":"c%d"}`+"\n", i, question, i, i%3)
		for _, model := range []string{"good", "poor"} {
			answer := fmt.Sprintf("It is the number %03d.", i)
			if model == "poor" && i%4 == 0 {
				answer = "I cannot count."
			}
			fixtures = append(fixtures, fixture{map[string]string{"userMessage": question, "model": model}, map[string]string{"content": answer}})
		}
	}
	text, err := json.Marshal(map[string]any{"fixtures": fixtures})
	if err != nil {
		t.Fatal(err)
	}
	dataset := write("cases.jsonl", data.String())
	provider := harness.Aimock(t, write("fixtures.json", string(text)))
	tasks := 4 * cases
	between := &unsteady{to: provider.URL, holdAt: tasks / 2, held: make(chan struct{}), goOn: make(chan struct{})}
	server := httptest.NewServer(between)
	t.Cleanup(server.Close)
	env := []string{
		"OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=" + harness.ProviderKey, "P8_DATA_DIR=" + filepath.Join(folder, "data"),
		"P8_SCHEMA_DIR=" + filepath.Join(folder, "agents"),
	}
	first := harness.Start(t, env, "", "eval", "run", dataset, "-a", "alpha", "-a", "beta", "-m", "openai:good", "-m", "openai:poor", "--evaluator", "contains", "--name", "counting")
	select {
	case <-between.held:
	case <-first.Exited():
		_, out, errs := first.Wait()
		t.Fatalf("it ended by itself:\n%s%s", out, errs)
	}
	first.Kill()
	close(between.goOn)

	page, junit := filepath.Join(folder, "report.html"), filepath.Join(folder, "junit.xml")
	code, out, errs := harness.Run(t, env, "eval", "run", "--resume", "last", "--json", "--html", page, "--junit", junit, "--fail-under", "pass=0.7")
	if code != 0 || !strings.Contains(errs, "from before") {
		t.Fatalf("code %d\n%s\n%s", code, out, errs)
	}
	var got struct {
		Status   string
		Subjects []struct {
			Agent, Model           string
			Cases, Answers, Failed int
			Pass                   struct{ Value float64 }
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != "completed" || len(got.Subjects) != 4 {
		t.Fatalf("%+v", got)
	}
	for _, s := range got.Subjects {
		if want := map[string]float64{"openai:good": 1, "openai:poor": 0.75}[s.Model]; s.Cases != cases || s.Answers != cases || s.Failed != 0 || s.Pass.Value != want {
			t.Errorf("%+v", s)
		}
	}
	between.mu.Lock()
	defer between.mu.Unlock()
	// Each of the four workers may have had an answer on its way when the process was killed.
	if between.answered < tasks || between.answered > tasks+4 || between.refused == 0 || between.cut == 0 {
		t.Errorf("%d answers for %d tasks, %d refused, %d cut", between.answered, tasks, between.refused, between.cut)
	}
	for path, want := range map[string]string{page: "case 019: which number is it?", junit: `failures="` + fmt.Sprint(cases/4) + `"`} {
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(want)) || bytes.Contains(text, []byte(harness.ProviderKey)) {
			t.Errorf("%s: %v: %q is missing", path, err, want)
		}
	}
	if keep := os.Getenv("P8_TEST_KEEP_REPORT"); keep != "" {
		text, _ := os.ReadFile(page)
		_ = os.WriteFile(keep, text, 0o644)
	}
	// The sessions are those of an evaluation.
	_, out, _ = harness.Run(t, env, "sessions", "list", "--json", "--mode", "evaluation", "--limit", "3")
	if strings.Count(out, `"mode": "evaluation"`) != 3 {
		t.Errorf("sessions: %.500s", out)
	}
}

// unsteady passes requests on to a provider. It refuses every seventh, cuts every eleventh answer,
// and holds all answers after holdAt until goOn is closed.
type unsteady struct {
	to         string
	holdAt     int
	held, goOn chan struct{}

	mu                               sync.Mutex
	requests, answered, refused, cut int
}

func (f *unsteady) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests++
	n := f.requests
	if n%7 == 0 {
		f.refused++
	}
	hold := f.answered >= f.holdAt
	f.mu.Unlock()
	if n%7 == 0 {
		w.Header().Set("Retry-After-Ms", "20")
		http.Error(w, `{"error":{"message":"slow down","type":"rate_limit_error"}}`, http.StatusTooManyRequests)
		return
	}
	if hold {
		f.mu.Lock()
		select {
		case <-f.held:
		default:
			close(f.held)
		}
		f.mu.Unlock()
		<-f.goOn
		if r.Context().Err() != nil {
			return
		}
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, f.to+r.URL.Path, r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header = r.Header.Clone()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
	w.WriteHeader(res.StatusCode)
	if n%11 == 0 {
		f.mu.Lock()
		f.cut++
		f.mu.Unlock()
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	f.mu.Lock()
	f.answered++
	f.mu.Unlock()
	_, _ = w.Write(body)
}
