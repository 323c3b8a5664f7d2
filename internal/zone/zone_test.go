package zone

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/golden"
)

// zones returns the zones of the Go that runs the test.
func zones(t *testing.T) string {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip")
}

// TestEmbedded: every zone that Go has can be loaded without it.
func TestEmbedded(t *testing.T) {
	path := zones(t)
	if golden.Update() {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("zoneinfo.zip.gz", golden.Gzip(t, data), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	all, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	n := 0
	for _, f := range all.File {
		if f.FileInfo().IsDir() {
			continue
		}
		n++
		if at, err := load(f.Name, f.Name); err != nil || at.String() != f.Name {
			t.Errorf("%s: %v, %v: run the test with -update", f.Name, at, err)
		}
	}
	if n < 400 {
		t.Errorf("%d zones", n)
	}
}

func TestLoad(t *testing.T) {
	for name, known := range map[string]bool{
		"": true, "UTC": true, "Local": true, "Europe/Berlin": true, "America/Argentina/Buenos_Aires": true,
		"Europe": false, "Europe/": false, "Europe/Atlantis": false, "../zone.go": false, "/etc/localtime": false, "Europe/../UTC": false, "\x00": false,
	} {
		at, err := Load(name)
		if (err == nil) != known || known == (at == nil) {
			t.Errorf("%q: %v, %v", name, at, err)
		}
		if _, err := load(name, name); err == nil && !known {
			t.Errorf("%q is embedded", name)
		}
	}
}

func TestLocal(t *testing.T) {
	before := time.Local
	defer func() { time.Local = before }()
	for _, test := range []struct {
		local       *time.Location
		named, want string
	}{
		{time.UTC, "Asia/Tokyo", "JST"},
		{time.UTC, ":Asia/Tokyo", "JST"},
		{time.UTC, "", "UTC"},
		{time.UTC, "UTC", "UTC"},
		{time.UTC, "Asia/Atlantis", "UTC"},
		{time.UTC, "/etc/localtime", "UTC"},
		{time.FixedZone("Local", 3600), "Asia/Tokyo", "Local"},
	} {
		time.Local = test.local
		if name, _ := time.Unix(0, 0).In(Local(test.named)).Zone(); name != test.want {
			t.Errorf("TZ=%s beside %s: %s, want %s", test.named, test.local, name, test.want)
		}
	}
}
