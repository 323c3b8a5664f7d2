package child

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/ingest"
)

// maxOutput bounds the text of a file, in bytes.
const maxOutput = 32 << 20

// process is a running child. It parses one file at a time.
type process struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	stderr *tail
	// exited is closed when the process has ended.
	exited chan struct{}
	files  int
	// memory and cpu are what the child reported.
	memory uint64
	cpu    time.Duration
	// idle ends the process when it has not been used.
	idle *time.Timer
}

// start starts a process.
func start(command []string, memory int64, timeout time.Duration) (*process, error) {
	// A process is reused while this much CPU time is left.
	seconds := strconv.Itoa(2 * int(timeout/time.Second+1))
	args := append(command[1:len(command):len(command)], Verb, strconv.FormatInt(memory, 10), seconds)
	p := &process{cmd: exec.Command(command[0], args...), stderr: &tail{}, exited: make(chan struct{})}
	p.cmd.Env = environment(os.Environ())
	p.cmd.Stderr = p.stderr
	apart(p.cmd)
	var theirs [2]*os.File
	var err error
	if theirs[0], p.in, err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.out, theirs[1], err = os.Pipe(); err != nil {
		return nil, errors.Join(err, theirs[0].Close(), p.in.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout = theirs[0], theirs[1]
	started := make(chan error)
	go func() {
		// On Linux the process dies with this thread, so no other goroutine may use it.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // the exit code says why
			close(p.exited)
		}
	}()
	err = <-started
	_, _ = theirs[0].Close(), theirs[1].Close()
	if err != nil {
		_, _ = p.in.Close(), p.out.Close()
		return nil, err
	}
	lower(p.cmd)
	return p, nil
}

// environment returns the variables that a child needs: no settings and no keys.
func environment(environ []string) []string {
	env := []string{"GOTRACEBACK=none", "GOMAXPROCS=2"}
	for _, v := range environ {
		if name, _, _ := strings.Cut(v, "="); strings.EqualFold(name, "SYSTEMROOT") || name == "GORACE" {
			env = append(env, v)
		}
	}
	return env
}

// end kills the process, waits for it, and frees its resources.
func (p *process) end() {
	_ = p.cmd.Process.Kill() // fails if it has ended; it has no children
	<-p.exited
	_, _ = p.in.Close(), p.out.Close()
}

// send writes a file to the process.
func (p *process) send(format string, r io.Reader, size int64) error {
	p.files++
	if err := writeRequest(p.in, format, size); err != nil {
		return err
	}
	n, err := io.Copy(p.in, io.LimitReader(r, size))
	if err == nil && n < size {
		err = errShort
	}
	return err
}

// errShort is the error of a file that was truncated while it was read.
var errShort = errors.New("it changed while it was read: store it again")

// receive reads the answer.
func (p *process) receive() (ingest.Extracted, error) {
	var x ingest.Extracted
	var text strings.Builder
	r, buf := bufio.NewReaderSize(p.out, maxFrame), make([]byte, maxFrame)
	var refused error
	for {
		kind, payload, err := readFrame(r, buf)
		if err != nil {
			return x, err
		}
		switch {
		case kind == frameText && text.Len()+len(payload) <= maxOutput:
			text.Write(payload)
		case kind == framePage && len(payload) == 4 && len(x.Pages) < maxOutput>>10:
			x.Pages = append(x.Pages, ingest.Page{Number: int(binary.BigEndian.Uint32(payload)), Start: text.Len()})
		case kind == frameRefused || kind == frameOver:
			refused = &refusal{strings.ToValidUTF8(string(payload), "\uFFFD"), kind == frameOver}
		case kind == frameDone && len(payload) == 16:
			p.memory = binary.BigEndian.Uint64(payload)
			p.cpu = time.Duration(binary.BigEndian.Uint64(payload[8:])) * time.Millisecond
			if x.Text = text.String(); refused == nil && !utf8.ValidString(x.Text) {
				refused = &refusal{message: "its text is not UTF-8"}
			}
			return x, refused
		default:
			return x, fmt.Errorf("a frame %q of %d bytes", kind, len(payload))
		}
	}
}

// tail keeps the beginning of a process's standard error: the runtime reports the fatal
// error first.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 4 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b[:min(len(b), most-len(t.b))]...)
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
