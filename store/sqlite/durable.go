package sqlite

import (
	"fmt"
	"os"
	"sync"
)

// durable makes commits durable in groups: one fsync of the write-ahead log serves all
// commits before its start. A connection with synchronous=NORMAL appends the pages of a
// commit to that file, in order, and does not wait, so that the next transaction can
// begin. SQLite itself waits where the order of files matters, at a checkpoint.
//
// The commits that wait for an fsync that fails get its error. Linux reports a page that it
// could not write once: a later fsync succeeds without it, and if the machine then loses
// power before the checkpoint, the log ends before that page, and later commits are lost.
type durable struct {
	path string // of the write-ahead log; "" for a database in memory

	mu   sync.Mutex
	next *flush // the fsync that has not begun, nil if no commit waits
	info os.FileInfo

	syncing sync.Mutex // held during an fsync
	file    *os.File
	closed  bool
}

// flush is one fsync.
type flush struct {
	done chan struct{}
	err  error
}

// wait returns after every earlier commit is on the disk. The first caller calls fsync for
// all callers that arrive before it begins.
func (d *durable) wait() error {
	d.mu.Lock()
	r := d.next
	if r != nil {
		d.mu.Unlock()
		<-r.done
		return r.err
	}
	r = &flush{done: make(chan struct{})}
	d.next = r
	d.mu.Unlock()

	d.syncing.Lock()
	d.mu.Lock()
	d.next = nil
	d.mu.Unlock()
	r.err = d.sync()
	d.syncing.Unlock()
	close(r.done)
	return r.err
}

// sync calls fsync. The file exists from the first commit on, until the last connection is
// closed: SQLite then copies everything into the database, and waits for the disk.
func (d *durable) sync() error {
	if d.closed || d.path == "" {
		return nil
	}
	if d.file == nil {
		f, err := os.OpenFile(d.path, os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("sqlite: open the write-ahead log: %w", err)
		}
		info, err := f.Stat()
		if err != nil {
			f.Close()
			return fmt.Errorf("sqlite: open the write-ahead log: %w", err)
		}
		d.file = f
		d.mu.Lock()
		d.info = info
		d.mu.Unlock()
	}
	if err := syncData(d.file); err != nil {
		return fmt.Errorf("sqlite: write the write-ahead log to the disk: %w", err)
	}
	return nil
}

// present reports whether the file that is synced is the one at its path.
func (d *durable) present() bool {
	d.mu.Lock()
	opened := d.info
	d.mu.Unlock()
	if opened == nil {
		return true // nothing was written yet
	}
	info, err := os.Stat(d.path)
	return err == nil && os.SameFile(info, opened)
}

// close lets go of the file, before the last connection does.
func (d *durable) close() error {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	d.closed = true
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
