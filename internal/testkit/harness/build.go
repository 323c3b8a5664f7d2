// Package harness starts the processes of the end-to-end tests: the real p8 binary,
// fake model providers and public clients.
//
// A test package that needs the binary has
//
//	func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
//
// Then [Serve] starts a server with its own data folder, [Aimock] a model provider
// that answers from fixtures and records every request, and [Node] and [Curl] run
// clients. Every process listens on a free port of the loopback interface and is
// stopped, by its id, when the test ends.
package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binaryEnv names the built p8. scripts/test sets it for all packages.
const binaryEnv = "P8_TEST_BINARY"

// uninstrumented disables the race detector in SQLite, 158,000 lines translated from C
// that run in one goroutine: it would triple the time of a query. p8 and the driver stay
// instrumented. scripts/test has the same flag.
const uninstrumented = "-gcflags=github.com/ncruces/go-sqlite3-wasm/...=-race=false"

// Main builds p8 (with the race detector when the tests have it), runs the tests
// and removes the binary. If P8_TEST_BINARY names a binary, Main builds none.
func Main(m *testing.M) int {
	if os.Getenv(binaryEnv) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "p8-binary-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "p8")
	args := []string{"build", "-buildvcs=false", "-o", binary}
	if raceEnabled {
		args = append(args, "-race", uninstrumented)
	}
	build := exec.Command("go", append(args, "github.com/p8-org/p8/cmd/p8")...)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building p8:", err)
		return 1
	}
	if err := os.Setenv(binaryEnv, binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Binary returns the path of the p8 under test.
func Binary(t testing.TB) string {
	t.Helper()
	path := os.Getenv(binaryEnv)
	if path == "" {
		t.Fatal("no p8 was built: the package's TestMain must call harness.Main")
	}
	return path
}

// Root returns the folder of go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("go.mod is in no folder above this test")
		}
	}
}
