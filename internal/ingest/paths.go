package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/p8-org/p8/internal/ingest/internal/extract"
	"github.com/p8-org/p8/store"
)

// PathsOptions configure a run over local files. The paths must come from a user who may
// read them on this machine, never from a client of a server.
type PathsOptions struct {
	// Paths are files and folders.
	Paths []string
	// Table restricts documents to ontologies or resources. With another table, files hold
	// its rows. "" decides for each file.
	Table string
	// Category is for rows without one; Tags are added to all rows.
	Category string
	Tags     []string
	// Pattern is a glob on the path below a folder; ** is any number of folders.
	Pattern string
	// Shared makes the rows visible to the whole tenant.
	Shared bool
	// DryRun reads everything and writes nothing.
	DryRun bool
	// Prune deletes the rows of files that are gone from the folders. Without it, the rows
	// of deleted files stay.
	Prune bool
	// Progress, if set, is called after each file, by one goroutine at a time.
	Progress func(Progress)
}

// Progress is the progress of a run.
type Progress struct {
	// Done of Files are finished, DoneBytes of Bytes.
	Files, Done      int
	Bytes, DoneBytes int64
}

// Paths stores files and folders. The report has the result of each file. If the run ends
// early, the error says why, and the report has the results so far.
func (in *Ingester) Paths(ctx context.Context, o PathsOptions) (*Report, error) {
	report := &Report{DryRun: o.DryRun}
	if err := o.check(); err != nil {
		return report, err
	}
	set := settings{table: o.Table, category: o.Category, tags: mergeTags(o.Tags, nil), shared: o.Shared, local: true}
	w := &walker{pattern: o.Pattern, maxSize: in.MaxFileBytes, seen: map[string]bool{}, report: report}
	defer w.close()
	for _, p := range o.Paths {
		if err := w.add(ctx, p); err != nil {
			return report, err
		}
	}
	r := &run{Ingester: in, set: set, dry: o.DryRun, report: report, progress: o.Progress}
	r.state.Files = len(w.files)
	for _, f := range w.files {
		r.state.Bytes += f.size
	}
	err := r.take(ctx, w.files)
	if err == nil && o.Prune {
		err = r.prune(ctx, w)
	}
	report.sort()
	return report, err
}

func (o *PathsOptions) check() error {
	if o.Table != "" && !isTable(o.Table) {
		return fmt.Errorf("%w: there is no table %q for documents; one of %s", store.ErrInvalid, o.Table, rowTables)
	}
	if len(o.Paths) == 0 {
		return fmt.Errorf("%w: no path was given", store.ErrInvalid)
	}
	if err := checkPattern(o.Pattern); err != nil {
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	return nil
}

// run is one call of Paths or Upload.
type run struct {
	*Ingester
	set      settings
	dry      bool
	report   *Report
	progress func(Progress)
	// collided is the last conflict of a chosen name, failed the error of the last file
	// that could not be read.
	collided, failed error
	// share is the slot of an upload, held until its rows are stored.
	share *share

	mu    sync.Mutex // of report and state, while files are read
	state Progress
}

// finish reports a file.
func (r *run) finish(x Result, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.add(x, size)
	r.state.Done++
	r.state.DoneBytes += size
	if r.progress != nil {
		r.progress(r.state)
	}
}

// take stores files: it hashes them, asks the store once which ones changed, and reads
// those with several workers and writes them with one.
func (r *run) take(ctx context.Context, files []*source) error {
	scanned := make([]*candidate, len(files))
	if err := parallel(ctx, r.Workers, files, func(_ context.Context, i int, s *source) error {
		c, err := r.scan(s)
		if err != nil {
			r.finish(Result{Path: s.path, Status: Failed, Reason: reason(err)}, s.size)
		}
		scanned[i] = c
		return nil
	}); err != nil {
		return err
	}
	var all, changed []*candidate
	for _, c := range scanned {
		if c != nil {
			all = append(all, c)
		}
	}
	if err := r.identify(ctx, all, r.set); err != nil {
		return err
	}
	links := newLinker(all)
	for _, c := range all {
		if c.unchanged(r.fingerprint(c, r.set, links.names)) {
			r.finish(Result{Path: c.path, Status: Unchanged}, c.size)
		} else {
			changed = append(changed, c)
		}
	}
	return r.write(ctx, changed, links)
}

// write reads the files with several workers and writes their rows with one.
func (r *run) write(ctx context.Context, changed []*candidate, links *linker) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, read := make(chan *made), make(chan error, 1)
	go func() {
		defer close(out)
		read <- parallel(ctx, r.Workers, changed, func(ctx context.Context, _ int, c *candidate) error {
			s := r.share
			if s == nil {
				s = &share{}
				defer s.release()
			}
			m, err := r.convert(ctx, c, r.set, links, s)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				r.fail(c, err)
				return nil
			}
			select {
			case out <- m:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	w := &batch{run: r}
	var err error
	for m := range out {
		if err == nil {
			if err = w.add(ctx, m); err != nil {
				cancel()
			}
		}
	}
	if late := <-read; err == nil {
		err = late
	}
	if err == nil {
		err = w.end(ctx)
	}
	return err
}

// fail reports a file that cannot be read.
func (r *run) fail(c *candidate, err error) {
	x := Result{Path: c.path, Status: Failed, Reason: err.Error()}
	if errors.Is(err, extract.ErrBinary) {
		x.Status = Skipped
	}
	r.mu.Lock()
	r.failed = err
	r.mu.Unlock()
	r.finish(x, c.size)
}
