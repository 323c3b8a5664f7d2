package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/store"
)

// crashDir tells the test binary to be the process that is killed.
const crashDir = "P8_TEST_CRASH_DIR"

// crashWriter stores turns from four goroutines and prints a line for each row
// once it is stored, until it is killed.
func crashWriter(dir string) {
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			ctx := caller(context.Background())
			session := fmt.Sprint("s", w)
			for i := 0; ; i++ {
				text := strings.Repeat(fmt.Sprintf("%d-%d ", w, i), 1+i%400)
				ask, answer := message(session, text), message(session, text)
				if err := s.BeginTurn(ctx, store.Session{ID: session}, ask); err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println(ask.ID, w, i)
				if err := s.FinishTurn(ctx, answer, ""); err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println(answer.ID, w, i)
			}
		})
	}
	wg.Wait()
}

// No row is lost whose writer was told that it is stored, wherever the process
// is killed, and the sessions go on.
func TestCrash(t *testing.T) {
	dir := harness.Disk(t)
	acknowledged := make(map[string]string)
	for round := range 6 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := 50 + rand.IntN(400)
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == kill {
				time.AfterFunc(time.Duration(rand.IntN(5000))*time.Microsecond, func() { cmd.Process.Kill() })
			}
			var id string
			var w, i int
			if _, err := fmt.Sscan(lines.Text(), &id, &w, &i); err != nil || len(id) != 36 {
				// The last line may be cut.
				if strings.HasPrefix(lines.Text(), "error") {
					t.Error(lines.Text())
				}
				continue
			}
			acknowledged[id] = strings.Repeat(fmt.Sprintf("%d-%d ", w, i), 1+i%400)
		}
		cmd.Wait()

		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		ctx := caller(t.Context())
		for id, want := range acknowledged {
			m, err := s.Message(ctx, id)
			if err != nil || m.Content == nil || *m.Content != want {
				t.Errorf("round %d: row %s of %d acknowledged: %v", round, id, len(acknowledged), err)
			}
		}
		for w := range 4 {
			session := fmt.Sprint("s", w)
			if err := s.BeginTurn(ctx, store.Session{ID: session}, message(session, "next")); err != nil {
				t.Errorf("round %d: next turn: %v", round, err)
			}
			list, err := s.Messages(ctx, session, store.MessageFilter{Limit: 10000})
			if err != nil {
				t.Error(err)
			}
			for i, m := range list {
				if m.Seq != int64(i+1) {
					t.Fatalf("round %d: session %s: number %d stands at %d", round, session, m.Seq, i+1)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d acknowledged rows read back", len(acknowledged))
}
