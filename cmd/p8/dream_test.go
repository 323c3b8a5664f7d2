package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDreamAfterKill: the next dream goes on at once with that of a process which was
// killed: nobody else can have the embedded database, so nobody is waited for.
func TestDreamAfterKill(t *testing.T) {
	p := newProvider(t)
	environ := func(model string) []string {
		return append(useProvider(p, model), "P8_DATA_DIR="+filepath.Join(t.TempDir(), "data"), "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"))
	}
	slow := environ("openai:slow")
	well := append(slow[:len(slow):len(slow)], "P8_DEFAULT_MODEL=openai:dreams")
	printed(t, well, "chat", "--session", "s", "--user", "ann@example.com", "Why are the trains late?")
	before := len(p.requests())

	cmd := exec.Command("p8", "dream", "ann@example.com")
	cmd.Env, cmd.Dir = slow, t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for deadline := time.After(20 * time.Second); len(p.requests()) == before; {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatal("the model was not asked")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	began := time.Now()
	out := printed(t, well, "dream", "ann@example.com")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	mustContain(t, out, "status    completed", "late-trains", "profile   content, interests")
	if n := strings.Count(printed(t, well, "moments", "--user", "ann@example.com", "--type", "dream"), "Late Trains"); n != 1 {
		t.Errorf("%d dreams", n)
	}
	mustContain(t, printed(t, well, "dream", "ann@example.com"), "skipped no data")
}
