package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/ingest"
)

// Options configure a Pool; the zero value works.
type Options struct {
	// Command is the command of a child without the arguments of Verb; nil is this program.
	Command []string
	// Memory bounds a process, in bytes; 0 is 256 MB.
	Memory int64
	// Timeout bounds the time of a file; 0 is a minute.
	Timeout time.Duration
	// Processes is how many files are parsed at a time; 0 is 2. Others wait until their
	// contexts end.
	Processes int
	Log       *slog.Logger
}

// The bounds after which a process is not reused.
const (
	maxIdle  = 30 * time.Second
	maxFiles = 500
)

// Pool parses files in child processes. It is safe for concurrent use.
type Pool struct {
	o Options
	// slots has a slot for each busy process.
	slots chan struct{}

	mu     sync.Mutex
	idle   []*process
	all    map[*process]bool
	closed bool
}

var _ ingest.Extractor = (*Pool)(nil)

// New makes a Pool. It starts no process before the first file.
func New(o Options) *Pool {
	const memory, processes = 256 << 20, 2
	o.Memory, o.Timeout = cmp.Or(o.Memory, memory), cmp.Or(o.Timeout, time.Minute)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Pool{o: o, slots: make(chan struct{}, cmp.Or(o.Processes, processes)), all: map[*process]bool{}}
}

// Close kills all processes. Files in progress fail.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var ended []*process
	for c := range p.all {
		ended = append(ended, c)
	}
	p.idle = nil
	p.mu.Unlock()
	for _, c := range ended {
		p.drop(c)
	}
}

// errClosed is the error of a file after Close.
var errClosed = errors.New("p8 is shutting down")

// Extract implements ingest.Extractor.
func (p *Pool) Extract(ctx context.Context, format string, r io.Reader, size int64) (ingest.Extracted, error) {
	if size > p.o.Memory/2 {
		return ingest.Extracted{}, p.tooMuchMemory(format)
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return ingest.Extracted{}, context.Cause(ctx)
	}
	c, err := p.take()
	if err != nil {
		return ingest.Extracted{}, err
	}
	limited, cancel := context.WithTimeout(ctx, p.o.Timeout)
	defer cancel()
	stop := context.AfterFunc(limited, c.end)
	err = c.send(format, r, size)
	var x ingest.Extracted
	if err == nil {
		x, err = c.receive()
	}
	var refused *refusal
	if inTime := stop(); inTime && (err == nil || errors.As(err, &refused)) {
		p.put(c)
		return x, err
	}
	c.end()
	p.drop(c)
	return ingest.Extracted{}, p.failure(ctx, limited, c, format, err)
}

// failure returns why a process did not answer.
func (p *Pool) failure(ctx, limited context.Context, c *process, format string, err error) error {
	said := c.stderr.String()
	state := c.cmd.ProcessState
	p.o.Log.DebugContext(ctx, "a process that reads files has ended", "format", format, "state", state.String(), "error", err, "stderr", said)
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case closed:
		return errClosed
	case limited.Err() != nil:
		return fmt.Errorf("%w: reading it as %s takes longer than %s; raise P8_EXTRACT_TIMEOUT if it is worth it", ingest.ErrTooLarge, strings.ToUpper(format), p.o.Timeout)
	case errors.Is(err, errShort):
		return err
	case state.ExitCode() == exitMemory, strings.Contains(said, "out of memory"), strings.Contains(said, "cannot allocate memory"):
		return p.tooMuchMemory(format)
	case strings.Contains(said, "stack overflow"):
		return fmt.Errorf("%w: it is nested too deep", ingest.ErrTooLarge)
	case state.ExitCode() < 0: // a signal: RLIMIT_CPU, or the machine is out of memory
		return fmt.Errorf("%w: reading it as %s takes more time or memory than there is", ingest.ErrTooLarge, strings.ToUpper(format))
	}
	return fmt.Errorf("%s: damaged: reading it failed", strings.ToUpper(format))
}

func (p *Pool) tooMuchMemory(format string) error {
	return fmt.Errorf("%w: reading it as %s takes more than %d MB of memory; raise P8_EXTRACT_MEMORY if it is worth it",
		ingest.ErrTooLarge, strings.ToUpper(format), p.o.Memory>>20)
}

// take returns an idle process or starts one.
func (p *Pool) take() (*process, error) {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, errClosed
		}
		n := len(p.idle)
		if n == 0 {
			p.mu.Unlock()
			return p.start()
		}
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		select {
		case <-c.exited:
			p.drop(c)
		default:
			if c.idle.Stop() {
				return c, nil
			}
			p.drop(c) // its idle time has just ended
		}
	}
}

func (p *Pool) start() (*process, error) {
	command := p.o.Command
	if command == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program to start it again: %w", err)
		}
		command = []string{self}
	}
	c, err := start(command, p.o.Memory, p.o.Timeout)
	if err != nil {
		return nil, fmt.Errorf("start a process that reads files: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.end()
		return nil, errClosed
	}
	p.all[c] = true
	return c, nil
}

// put keeps a process for the next file, or ends it.
func (p *Pool) put(c *process) {
	if c.files >= maxFiles || c.memory > uint64(p.o.Memory)/2 || c.cpu > p.o.Timeout {
		p.drop(c)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return // Close ends it
	}
	c.idle = time.AfterFunc(maxIdle, func() { p.drop(c) })
	p.idle = append(p.idle, c)
}

// drop ends a process.
func (p *Pool) drop(c *process) {
	p.mu.Lock()
	known := p.all[c]
	delete(p.all, c)
	for i, x := range p.idle {
		if x == c {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	if known {
		c.end()
	}
}
