package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/internal/ingest/child"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// quickExit keeps the race detector from sleeping at the end of every p8.
const quickExit = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if child.Wanted(os.Args[1:]) {
		main()
	}
	testscript.Main(m, map[string]func(){"p8": main})
}

// TestTranscripts runs the transcripts of testdata/script: the command line as a
// person uses it, with a provider that is a server of this test. Besides the
// usual commands there are
//
//	fails CODE p8 ARGS...    p8 ends with this exit code
//	freeport NAME            puts a port that nobody listens on into $NAME
//	get URL FILE             asks until the answer is 200 and keeps it in FILE
//	post URL BODY FILE       posts JSON and keeps the answer in FILE
func TestTranscripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       golden.Update(),
		Setup: func(e *testscript.Env) error {
			p := newProvider(e.T().(testing.TB))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("P8_DATA_DIR", filepath.Join(e.WorkDir, "data"))
			e.Setenv("PROVIDER", p.URL)
			e.Setenv("VERSION", command.Version())
			if err := os.Symlink(filepath.Join(harness.Root(e.T().(testing.TB)), "examples"), filepath.Join(e.WorkDir, "examples")); err != nil {
				return err
			}
			e.Vars = append(e.Vars, quickExit)
			// No Ollama of this machine takes part.
			e.Setenv("OLLAMA_HOST", "127.0.0.1:1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails": cmdFails, "freeport": cmdFreePort, "get": cmdGet, "post": cmdPost,
		},
	})
}

func cmdFails(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if err == nil || !errors.As(err, &exit) || exit.ExitCode() != want {
		ts.Fatalf("want exit code %d, got %v", want, err)
	}
}

func cmdFreePort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], port)
}

func cmdGet(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(20 * time.Second); ; {
		res, err := http.Get(args[0])
		if err == nil && res.StatusCode == http.StatusOK {
			keep(ts, res, args[1])
			return
		}
		if err == nil {
			res.Body.Close()
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s does not answer: %v", args[0], err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func cmdPost(ts *testscript.TestScript, neg bool, args []string) {
	res, err := http.Post(args[0], "application/json", strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	keep(ts, res, args[2])
}

func keep(ts *testscript.TestScript, res *http.Response, file string) {
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(file), body, 0o644))
}
