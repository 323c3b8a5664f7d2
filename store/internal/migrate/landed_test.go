package migrate

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// sumsFile has a line "SHA-256  name" for each migration beside it, as sha256sum
// writes and checks them.
const sumsFile = "SHA256SUMS"

// landed compares the migrations of a folder with its checksums. A database that
// has applied a migration never applies it again, so a landed file must not change.
func landed(fsys fs.FS) error {
	sums, err := readSums(fsys)
	if err != nil {
		return err
	}
	files, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return err
	}
	var errs []error
	versions := make(map[int64]string)
	for _, name := range files {
		version, err := versionOf(name)
		if err != nil {
			return err
		}
		if other := versions[version]; other != "" {
			errs = append(errs, fmt.Errorf("%s and %s have one number: give the newer one the next free number", other, name))
		}
		versions[version] = name
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		for _, other := range []string{"+goose Down", "+goose NO TRANSACTION"} {
			if bytes.Contains(text, []byte(other)) {
				errs = append(errs, fmt.Errorf("%s: %q: a file is one transaction, and there is no way back", name, other))
			}
		}
		sum := sha256.Sum256(text)
		switch want, got := sums[name], hex.EncodeToString(sum[:]); want {
		case got:
		case "":
			errs = append(errs, fmt.Errorf("%s has no checksum: add the line %q to %s", name, got+"  "+name, sumsFile))
		default:
			errs = append(errs, fmt.Errorf("%s was changed after it had landed: restore it (git checkout) and put the change into a new migration", name))
		}
		delete(sums, name)
	}
	for name := range sums {
		errs = append(errs, fmt.Errorf("%s was removed or renamed after it had landed: restore it", name))
	}
	return errors.Join(errs...)
}

func readSums(fsys fs.FS) (map[string]string, error) {
	text, err := fs.ReadFile(fsys, sumsFile)
	if err != nil {
		return nil, err
	}
	sums := make(map[string]string)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || sums[name] != "" {
			return nil, fmt.Errorf("%s: the line %q is not one checksum of one file", sumsFile, lines.Text())
		}
		sums[name] = sum
	}
	return sums, nil
}

func TestLandedMigrationsNeverChange(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		if err := landed(os.DirFS("../../" + engine + "/migrations")); err != nil {
			t.Errorf("store/%s/migrations:\n%v", engine, err)
		}
	}
}

func TestLanded(t *testing.T) {
	fsys := files("CREATE TABLE a (x TEXT);", "CREATE TABLE b (x TEXT);")
	var sums strings.Builder
	for name, file := range fsys {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(file.Data), name)
	}
	fsys[sumsFile] = &fstest.MapFile{Data: []byte(sums.String())}
	one := *fsys["00001_step.sql"]
	for _, c := range []struct {
		name   string
		change func(fstest.MapFS)
		want   string
	}{
		{"as they landed", func(fstest.MapFS) {}, ""},
		{"changed", func(f fstest.MapFS) { f["00002_step.sql"] = &one }, "00002_step.sql was changed after it had landed"},
		{"new", func(f fstest.MapFS) { f["00003_step.sql"] = &one }, fmt.Sprintf("add the line \"%x  00003_step.sql\"", sha256.Sum256(one.Data))},
		{"removed", func(f fstest.MapFS) { delete(f, "00002_step.sql") }, "00002_step.sql was removed"},
		{"one number twice", func(f fstest.MapFS) { f["00002_other.sql"] = &one }, "have one number"},
		{"a way back", func(f fstest.MapFS) { f["00003_step.sql"] = &fstest.MapFile{Data: []byte("-- +goose Down\n")} }, "no way back"},
		{"not a line", func(f fstest.MapFS) { f[sumsFile] = &fstest.MapFile{Data: []byte("x")} }, "is not one checksum"},
	} {
		changed := fstest.MapFS{}
		for name, file := range fsys {
			changed[name] = file
		}
		c.change(changed)
		err := landed(changed)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
