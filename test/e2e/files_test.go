package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/internal/testkit/hostile"
)

// TestHostileFiles: two clients upload files that took the server's memory and its
// processor. Each is answered, the server stays small, and a third client's files
// are taken in meanwhile.
func TestHostileFiles(t *testing.T) {
	const most = 500 // MB of the server; it was killed at 1,500
	files, timeout := hostile.Files(), "20s"
	if !harness.Long(t) { // one of each kind: TestHostile of the readers has them all
		timeout = "2s"
		files = slices.DeleteFunc(files, func(f hostile.File) bool {
			return !slices.Contains([]string{"loop.pdf", "cells.docx", "deep.html", "columns.csv", "brackets.yaml"}, f.Name)
		})
	}
	s := harness.Serve(t, harness.Options{Env: []string{"P8_EXTRACT_TIMEOUT=" + timeout}})
	var clients sync.WaitGroup
	for n := range 2 {
		clients.Go(func() {
			for i := range files {
				f := files[(i+n*len(files)/2)%len(files)]
				status, body, err := upload(t.Context(), s.URL, f.Name, f.Data())
				switch {
				case err != nil:
					t.Errorf("%s (%s): %v", f.Name, f.Cost, err)
				case !slices.Contains([]int{http.StatusCreated, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status):
					t.Errorf("%s (%s): %d %s", f.Name, f.Cost, status, body)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { clients.Wait(); close(over) }()
	for n := 0; ; n++ {
		name := fmt.Sprintf("note-%d.html", n)
		if status, body, err := upload(t.Context(), s.URL, name, []byte("<h1>"+name+"</h1>")); err != nil || status != http.StatusCreated {
			t.Errorf("%s beside the hostile ones: %d %s %v", name, status, body, err)
			<-over
			return
		}
		select {
		case <-over:
			if _, peak := s.Memory(t); peak > most && !harness.Instrumented(t) {
				t.Errorf("the server has had %d MB", peak)
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestUploadLimits: each answer names the limit, and the setting where there is one.
func TestUploadLimits(t *testing.T) {
	s := harness.Serve(t, harness.Options{Env: []string{"P8_MAX_UPLOAD_BYTES=40MB", "P8_EXTRACT_MEMORY=64MB", "P8_EXTRACT_TIMEOUT=1h"}})
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a.md", bytes.Repeat([]byte("words "), 34<<20/6), "more than 32 MiB of text"},
		{"b.bin.txt", make([]byte, 41<<20), "P8_MAX_UPLOAD_BYTES"},
		{"c.html", bytes.Repeat([]byte("<b>x</b>"), 1<<20), "more than 64 MB of memory; raise P8_EXTRACT_MEMORY"},
		{"d.csv", hostile.ColumnsCSV(), "more than 16384 columns"},
	} {
		status, body, err := upload(t.Context(), s.URL, c.name, c.data)
		var problem struct{ Code, Detail string }
		if err == nil {
			err = json.Unmarshal(body, &problem)
		}
		if err != nil || status != http.StatusRequestEntityTooLarge || problem.Code != "file_too_large" || !strings.Contains(problem.Detail, c.want) {
			t.Errorf("%s: %d %s %v, want %q", c.name, status, body, err, c.want)
		}
	}
	if _, peak := s.Memory(t); peak > 300 && !harness.Instrumented(t) {
		t.Errorf("the server has had %d MB for files that it refuses", peak)
	}
}

// TestClientLeaves: the process that reads a file ends soon after its client left.
func TestClientLeaves(t *testing.T) {
	s := harness.Serve(t, harness.Options{})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, _, err := upload(ctx, s.URL, "formats.html", hostile.FormatsHTML())
		left <- err
	}()
	pid := child(t, s.PID())
	leave()
	if err := <-left; err == nil {
		t.Fatal("the file was read before its client left: the test proves nothing")
	}
	for alive(pid) {
		<-time.After(time.Millisecond)
	}
	if status, body, err := upload(t.Context(), s.URL, "a.html", []byte("<p>words")); err != nil || status != http.StatusCreated {
		t.Errorf("the next file: %d %s %v", status, body, err)
	}
}

// TestServerKilled: a process that reads a file does not outlive its server.
func TestServerKilled(t *testing.T) {
	s := harness.Serve(t, harness.Options{})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _, _ = upload(t.Context(), s.URL, "formats.html", hostile.FormatsHTML()) // its server is killed
	}()
	pid := child(t, s.PID())
	s.Kill()
	<-answered
	for alive(pid) {
		<-time.After(time.Millisecond)
	}
}

// TestFolderWithHostileFiles: hostile files are reported, and the others are stored.
func TestFolderWithHostileFiles(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"loop.pdf": hostile.LoopPDF(), "columns.csv": hostile.ColumnsCSV(), "long.md": bytes.Repeat([]byte("words "), 34<<20/6),
		"good.html": []byte("<p>words"), "note.md": []byte("# Note\n\nWords."),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := harness.Run(t, []string{"P8_DATA_DIR=" + t.TempDir(), "P8_MAX_UPLOAD_BYTES=40MB"}, "upsert", dir)
	if code != 1 || !strings.Contains(stdout, "2 files written") || !strings.Contains(stdout, "3 failed") {
		t.Errorf("%d: %s", code, stdout)
	}
	for _, want := range []string{"loop.pdf: PDF: damaged", "16384 columns", "32 MiB of text"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in %s", want, stderr)
		}
	}
}

// upload sends a file as a client does.
func upload(ctx context.Context, url, name string, data []byte) (status int, body []byte, err error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		return 0, nil, err
	}
	if _, err := part.Write(data); err != nil {
		return 0, nil, err
	}
	if err := w.Close(); err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/content", &form)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, 4<<10))
	return res.StatusCode, body, err
}

// child waits for a child of a process and returns its id.
func child(t *testing.T, pid int) string {
	t.Helper()
	for {
		lists, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range lists {
			b, _ := os.ReadFile(list) // a thread may have ended
			if ids := strings.Fields(string(b)); len(ids) > 0 {
				return ids[0]
			}
		}
		<-time.After(time.Millisecond)
	}
}

// alive reports whether a process exists and is not a zombie.
func alive(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}
