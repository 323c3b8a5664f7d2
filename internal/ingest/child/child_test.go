package child_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/ingest/child"
	"github.com/p8-org/p8/internal/testkit/hostile"
)

// TestMain lets the test's own binary be the child, too.
func TestMain(m *testing.M) {
	if child.Wanted(os.Args[1:]) {
		os.Exit(child.Main(os.Args[1:], os.Stdin, os.Stdout, os.Exit))
	}
	if file := os.Getenv("CHILD_TEST_PARENT"); file != "" {
		os.Exit(parent(file))
	}
	goleak.VerifyTestMain(m)
}

func pool(t testing.TB, o child.Options) *child.Pool {
	t.Helper()
	p := child.New(o)
	t.Cleanup(p.Close)
	return p
}

func extract(ctx context.Context, p ingest.Extractor, name string, data []byte) (ingest.Extracted, error) {
	return p.Extract(ctx, strings.TrimPrefix(filepath.Ext(name), "."), bytes.NewReader(data), int64(len(data)))
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "internal", "extract", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSame: a child reads the same text from a file as this process does, and one child
// reads all files.
func TestSame(t *testing.T) {
	p := pool(t, child.Options{Processes: 1})
	seen := map[string]bool{}
	for range 3 {
		for _, name := range []string{"harbor.pdf", "minutes.docx", "page.html"} {
			data := fixture(t, name)
			got, err := extract(t.Context(), p, name, data)
			if err != nil {
				t.Fatal(err)
			}
			want, err := extract(t.Context(), ingest.InProcess{}, name, data)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != want.Text || fmt.Sprint(got.Pages) != fmt.Sprint(want.Pages) {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
			for _, pid := range children(t, os.Getpid()) {
				seen[pid] = true
			}
		}
	}
	if len(seen) != 1 {
		t.Errorf("the children were %v, want one", seen)
	}
}

// TestRefused: the error of a bad file has the same words as in this process, and the child
// reads the next file.
func TestRefused(t *testing.T) {
	p := pool(t, child.Options{Processes: 1})
	for _, c := range []struct{ name, data string }{
		{"a.pdf", "%PDF-1.4 nothing"}, {"a.docx", "PK nothing"}, {"a.html", strings.Repeat("<div>", 5000)}, {"loop.pdf", string(hostile.LoopPDF())},
	} {
		_, got := extract(t.Context(), p, c.name, []byte(c.data))
		_, want := extract(t.Context(), ingest.InProcess{}, c.name, []byte(c.data))
		if got == nil || want == nil || got.Error() != want.Error() || errors.Is(got, ingest.ErrTooLarge) != errors.Is(want, ingest.ErrTooLarge) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

// wide is a page that needs more than ten times its size.
func wide() []byte { return bytes.Repeat([]byte("<b>x</b>"), 1<<20) }

// TestLimits: a file over a limit ends its process, the error names the limit, and the next
// file is read.
func TestLimits(t *testing.T) {
	const memory, long = 64 << 20, time.Hour
	for _, c := range []struct {
		name, want string
		data       []byte
		o          child.Options
	}{
		{"wide.html", "takes more than 64 MB of memory; raise P8_EXTRACT_MEMORY", wide(), child.Options{Memory: memory, Timeout: long}},
		{"huge.pdf", "takes more than 64 MB of memory", make([]byte, memory), child.Options{Memory: memory, Timeout: long}},
		{"formats.html", "takes longer than 100ms; raise P8_EXTRACT_TIMEOUT", hostile.FormatsHTML(), child.Options{Timeout: 100 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pool(t, c.o)
			_, err := extract(t.Context(), p, c.name, c.data)
			if !errors.Is(err, ingest.ErrTooLarge) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if left := children(t, os.Getpid()); len(left) > 0 {
				t.Errorf("the children %v are left", left)
			}
			if c.o.Timeout == long {
				if _, err := extract(t.Context(), p, "page.html", fixture(t, "page.html")); err != nil {
					t.Errorf("the next file: %v", err)
				}
			}
		})
	}
}

// TestCancelled: a child ends with the context of its file, and a file that waits for a
// slot stops waiting.
func TestCancelled(t *testing.T) {
	p := pool(t, child.Options{Processes: 1})
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error)
	go func() {
		_, err := extract(ctx, p, "formats.html", hostile.FormatsHTML())
		read <- err
	}()
	for len(children(t, os.Getpid())) == 0 {
		<-time.After(time.Millisecond)
	}
	waiting, stop := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() {
		_, err := extract(waiting, p, "page.html", fixture(t, "page.html"))
		waits <- err
	}()
	stop()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("who waits: %v", err)
	}
	cancel()
	if err := <-read; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if left := children(t, os.Getpid()); len(left) > 0 {
		t.Errorf("the children %v are left", left)
	}
}

// TestShort: a file that ends early is refused.
func TestShort(t *testing.T) {
	p := pool(t, child.Options{})
	if _, err := p.Extract(t.Context(), "html", strings.NewReader("<p>"), 100); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v", err)
	}
}

// TestConcurrent: many files at once, some of them hostile, on two processes.
func TestConcurrent(t *testing.T) {
	p := pool(t, child.Options{Memory: 64 << 20, Timeout: time.Hour})
	page, bomb := fixture(t, "page.html"), wide()
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			if i%8 == 3 {
				if _, err := extract(t.Context(), p, "bomb.html", bomb); !errors.Is(err, ingest.ErrTooLarge) {
					t.Errorf("the bomb: %v", err)
				}
				return
			}
			if x, err := extract(t.Context(), p, "page.html", page); err != nil || !strings.HasPrefix(x.Text, "#") {
				t.Errorf("%.20q, %v", x.Text, err)
			}
		})
	}
	wg.Wait()
	if left := children(t, os.Getpid()); len(left) > 2 {
		t.Errorf("the children are %v, want two at most", left)
	}
}

// TestClosed: Close ends files in progress, and later ones are refused.
func TestClosed(t *testing.T) {
	p := pool(t, child.Options{})
	read := make(chan error)
	go func() {
		_, err := extract(t.Context(), p, "formats.html", hostile.FormatsHTML())
		read <- err
	}()
	for len(children(t, os.Getpid())) == 0 {
		<-time.After(time.Millisecond)
	}
	p.Close()
	if err := <-read; err == nil || errors.Is(err, ingest.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if _, err := extract(t.Context(), p, "page.html", fixture(t, "page.html")); err == nil {
		t.Error("a closed pool reads a file")
	}
	if left := children(t, os.Getpid()); len(left) > 0 {
		t.Errorf("the children %v are left", left)
	}
}

// TestOrphan: a child ends when its parent is killed.
func TestOrphan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "formats.html")
	if err := os.WriteFile(file, hostile.FormatsHTML(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CHILD_TEST_PARENT="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	for len(pids) == 0 {
		<-time.After(time.Millisecond)
		pids = children(t, cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for alive(pids[0]) {
		<-time.After(time.Millisecond)
	}
}

// parent reads a file in a child, for a test that kills it.
func parent(file string) int {
	data, err := os.ReadFile(file)
	if err == nil {
		_, err = extract(context.Background(), child.New(child.Options{}), file, data)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// alive reports whether a process exists and is not a zombie.
func alive(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// children are the ids of a process's children.
func children(t testing.TB, pid int) []string {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, list := range lists {
		b, _ := os.ReadFile(list) // a thread may have ended
		out = append(out, strings.Fields(string(b))...)
	}
	return out
}

// BenchmarkExtract compares a new process for every file, one process for all, and none.
func BenchmarkExtract(b *testing.B) {
	for _, name := range []string{"page.html", "harbor.pdf", "minutes.docx"} {
		data := fixture(b, name)
		run := func(kind string, x func() (ingest.Extractor, func())) {
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					p, end := x()
					if _, err := extract(b.Context(), p, name, data); err != nil {
						b.Fatal(err)
					}
					end()
				}
			})
		}
		kept := pool(b, child.Options{})
		run("a process a file", func() (ingest.Extractor, func()) { p := child.New(child.Options{}); return p, p.Close })
		run("one process", func() (ingest.Extractor, func()) { return kept, func() {} })
		run("in process", func() (ingest.Extractor, func()) { return ingest.InProcess{}, func() {} })
	}
}
