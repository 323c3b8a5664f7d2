package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// maxBinary bounds the stripped binary, in bytes. A new dependency that brings more
// than it is worth shows here; README.md says what the binary is made of.
const maxBinary = 45 << 20

func TestBinarySize(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "p8")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", binary, "github.com/p8-org/p8/cmd/p8")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the stripped binary has %d bytes", info.Size())
	if info.Size() > maxBinary {
		t.Errorf("the stripped binary has %d bytes, %d more than its bound: go tool nm -size -sort size p8 shows what grew", info.Size(), info.Size()-maxBinary)
	}
}
