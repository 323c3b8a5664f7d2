package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxFiles bounds the files of a run.
const maxFiles = 200_000

// source is a file of a run.
type source struct {
	// path is its path in the report, rel its path from the root, with slashes; tail is
	// the root's name and rel.
	path, rel, tail string
	uri             string
	size            int64
	// root opens it, so that no link that appears during a run leads outside of the root.
	root *os.Root
	// body is the content of an upload.
	body io.ReadSeeker
	// mime is the client's MIME type.
	mime string
}

// walker finds the files of a run.
type walker struct {
	pattern string
	maxSize int64
	roots   []*os.Root
	// folders are the roots that were named as folders.
	folders []string
	seen    map[string]bool
	files   []*source
	report  *Report
}

func (w *walker) close() {
	for _, r := range w.roots {
		// They were opened for reading, so closing loses nothing.
		_ = r.Close()
	}
}

// add walks a path: a file, or a folder with everything in it. A missing path is an error;
// problems below it are reported.
func (w *walker) add(ctx context.Context, name string) error {
	abs, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return fmt.Errorf("%s: %s", name, reason(err))
	}
	info, err := os.Stat(abs)
	if err != nil {
		return fmt.Errorf("%s: %s", name, reason(err))
	}
	dir := abs
	if !info.IsDir() {
		dir = filepath.Dir(abs)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("%s: %s", name, reason(err))
	}
	w.roots = append(w.roots, root)
	if !info.IsDir() {
		return w.file(root, dir, filepath.Dir(name), filepath.Base(abs), fs.FileInfoToDirEntry(info))
	}
	w.folders = append(w.folders, dir)
	return fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.report.add(Result{Path: path.Join(filepath.ToSlash(name), rel), Status: Failed, Reason: reason(err)}, 0)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case rel == ".":
			return nil
		case strings.HasPrefix(d.Name(), "."), d.Name() == "node_modules" && d.IsDir():
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir(), !matches(w.pattern, rel):
			return nil
		}
		return w.file(root, dir, name, rel, d)
	})
}

// file adds one file, or reports why not.
func (w *walker) file(root *os.Root, dir, shown, rel string, d fs.DirEntry) error {
	s := &source{
		path: path.Join(filepath.ToSlash(shown), rel), rel: rel, root: root,
		tail: path.Join(filepath.Base(dir), rel), uri: fileURI(filepath.Join(dir, filepath.FromSlash(rel))),
	}
	if w.seen[s.uri] {
		return nil
	}
	w.seen[s.uri] = true
	skip := func(status Status, why string) error {
		w.report.add(Result{Path: s.path, Status: status, Reason: why}, 0)
		return nil
	}
	if d.Type()&fs.ModeSymlink != 0 {
		return skip(Skipped, "a symbolic link")
	}
	if !d.Type().IsRegular() {
		return skip(Skipped, "not a regular file")
	}
	info, err := d.Info()
	switch {
	case err != nil:
		return skip(Failed, reason(err))
	case info.Size() > w.maxSize:
		return skip(Failed, tooLarge(w.maxSize).Error())
	case len(w.files) == maxFiles:
		return fmt.Errorf("more than %d files: store one folder at a time", maxFiles)
	}
	s.size = info.Size()
	w.files = append(w.files, s)
	return nil
}

// tooLarge returns the error of a file that is larger than Options.MaxFileBytes.
func tooLarge(limit int64) error {
	size := fmt.Sprintf("%d bytes", limit)
	if limit >= 1<<20 && limit%(1<<20) == 0 {
		size = fmt.Sprintf("%d MiB", limit>>20)
	}
	return fmt.Errorf("%w: it is longer than %s; send a smaller one, or raise P8_MAX_UPLOAD_BYTES", ErrTooLarge, size)
}

// reason returns a file system's error without the path, which the caller prints.
func reason(err error) string {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

func fileURI(abs string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	return u.String()
}

// filePath returns the path of a file URI, "" for another URI.
func filePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return filepath.FromSlash(u.Path)
}
