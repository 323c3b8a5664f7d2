package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

func TestUpload(t *testing.T) {
	s := open(t)
	in := newIngester(t, ingest.Over(s))
	ctx := as(t.Context(), "ada")
	send := func(name, mime, text, session string) (ingest.Result, error) {
		return in.Upload(ctx, ingest.Upload{
			Name: name, MIMEType: mime, Reader: strings.NewReader(text), SessionID: session, Tags: []string{"t"}, Category: "c",
		})
	}
	long := "# Plan\n\n" + strings.Repeat("A sentence of some words that fills a line. ", 200)
	first, err := send("../../etc/plan.md", "", long, "")
	if err != nil || first.Status != ingest.Written || first.Key != "plan" || first.Chunks < 3 || len(first.ResourceIDs) != first.Chunks || first.FileID == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	row, err := s.Resources().Get(ctx, first.ResourceIDs[1])
	if err != nil || row.UserID != "ada" || row.Category != "c" || row.FileID != first.FileID || row.Ordinal != 1 {
		t.Errorf("%+v, %v", row, err)
	}
	again, err := send("plan.md", "application/octet-stream", long, "")
	if err != nil || again.Status != ingest.Unchanged || !slices.Equal(again.ResourceIDs, first.ResourceIDs) || again.Chars != first.Chars {
		t.Errorf("again: %+v, %v", again, err)
	}
	changed, err := send("plan.md", "", "# Plan\n\nShort.", "")
	if err != nil || changed.FileID != first.FileID || changed.Chunks != 1 {
		t.Errorf("changed: %+v, %v", changed, err)
	}
	if n, err := s.Resources().Count(ctx, store.Filter{}); err != nil || n != 1 {
		t.Errorf("%d chunks are left, %v", n, err)
	}
	// The same name in a session, and another format of the same stem, are other files.
	other, err := send("plan.md", "", "Another plan.", "s1")
	if err != nil || other.FileID == first.FileID || other.Key == "plan" {
		t.Errorf("in a session: %+v, %v", other, err)
	}
	text, err := send("plan", "text/markdown", "# By its type", "")
	if err != nil || text.FileID == first.FileID {
		t.Errorf("by its type: %+v, %v", text, err)
	}
	ada, err := s.Ontologies().ByName(ctx, text.Key)
	if err != nil || ada.Content != "# By its type" {
		t.Errorf("%+v, %v", ada, err)
	}
	if ben, err := in.Upload(as(t.Context(), "ben"), ingest.Upload{Name: "plan.md", Reader: strings.NewReader("Ben's.")}); err != nil || ben.Key != "plan" {
		t.Errorf("another user's: %+v, %v", ben, err)
	}
}

// TestUploadsAtOnce: concurrent uploads of one name in several sessions all succeed.
func TestUploadsAtOnce(t *testing.T) {
	s := open(t)
	in := newIngester(t, ingest.Over(s))
	ctx := as(t.Context(), "ada")
	keys := make([]string, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			x, err := in.Upload(ctx, ingest.Upload{
				Name: "plan.md", Reader: strings.NewReader(fmt.Sprintf("# Plan %d", i)), SessionID: fmt.Sprintf("s%d", i),
			})
			if err != nil {
				t.Errorf("session %d: %v", i, err)
			}
			keys[i] = x.Key
		})
	}
	wg.Wait()
	slices.Sort(keys)
	if n := len(slices.Compact(slices.Clone(keys))); n != len(keys) {
		t.Errorf("keys %q", keys)
	}
}

// waiting is a file whose content blocks until it is released.
type waiting struct {
	begun *atomic.Int32
	come  chan struct{}
}

func (w waiting) Read([]byte) (int, error) {
	w.begun.Add(1)
	<-w.come
	return 0, io.ErrUnexpectedEOF
}

// TestUploadsAreBounded: only so many uploads are in memory at once.
func TestUploadsAreBounded(t *testing.T) {
	over := ingest.Over(open(t))
	synctest.Test(t, func(t *testing.T) {
		in, err := ingest.New(ingest.Options{Store: over, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		w := waiting{new(atomic.Int32), make(chan struct{})}
		ctx, cancel := context.WithCancel(as(t.Context(), "ada"))
		for range 5 {
			go func() {
				if _, err := in.Upload(ctx, ingest.Upload{Name: "a.txt", Reader: w}); err == nil {
					t.Error("a broken upload was taken in")
				}
			}()
		}
		synctest.Wait()
		if n := w.begun.Load(); n != 2 {
			t.Errorf("%d files are read at once", n)
		}
		cancel()
		synctest.Wait()
		close(w.come)
		synctest.Wait()
		if n := w.begun.Load(); n != 2 {
			t.Errorf("%d files were read, those of clients that left among them", n)
		}
	})
}

func TestBadUploads(t *testing.T) {
	s := open(t)
	in, err := ingest.New(ingest.Options{Store: ingest.Over(s), MaxFileBytes: 2000})
	if err != nil {
		t.Fatal(err)
	}
	secret := folder(t, map[string]string{"secret.md": "# Secret"}) + "/secret.md"
	for _, c := range []struct {
		name, text string
		want       error
		says       string
	}{
		{"big.txt", strings.Repeat("x", 2001), ingest.ErrTooLarge, "2000 bytes"},
		{"empty.txt", "", ingest.ErrUnreadable, "empty"},
		{"logo.png", "\x89PNG\r\n\x1a\n", ingest.ErrUnsupported, "PDF"},
		{"a.pdf", "%PDF-1.7", ingest.ErrUnreadable, "damaged"},
		{"a.md", "---\ntags: {\n---\n", ingest.ErrUnreadable, "a.md:2:"},
		{"latin.txt", "caf\xe9", ingest.ErrUnreadable, "UTF-8"},
		{"rows.yaml", "moments:\n  - {name: x, user_id: ben}\n", ingest.ErrUnreadable, "rows.yaml:2:15: user_id is set by p8"},
		{"users.yaml", "users:\n  - {name: x, email: ben@example.com}\n", ingest.ErrUnreadable, "not taken from uploads"},
	} {
		_, err := in.Upload(as(t.Context(), "ada"), ingest.Upload{Name: c.name, Reader: strings.NewReader(c.text)})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.want, c.says)
		}
	}
	small, err := ingest.New(ingest.Options{Store: ingest.Over(s), Chunking: ingest.Chunking{Target: 16}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = small.Upload(as(t.Context(), "ada"), ingest.Upload{Name: "rows.csv", Reader: strings.NewReader(strings.Repeat("1,2,3,4,5,6,7\n", 55_000))})
	if !errors.Is(err, ingest.ErrTooLarge) || !strings.Contains(err.Error(), "more than 50000 pieces; split it") {
		t.Errorf("rows.csv: %v", err)
	}
	// The name is never opened: no file of the server is read.
	if _, err := os.Stat(secret); err != nil {
		t.Fatal(err)
	}
	x, err := in.Upload(as(t.Context(), "ada"), ingest.Upload{Name: "file://" + secret, Reader: strings.NewReader("what was sent")})
	if err != nil || x.Chars != len("what was sent") {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := in.Upload(t.Context(), ingest.Upload{Name: "a.txt", Reader: strings.NewReader("x")}); err == nil {
		t.Error("an upload without an identity")
	}
}
