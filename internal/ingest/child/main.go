package child

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/ingest/internal/extract"
)

// Verb is the first argument of a child process.
const Verb = "read-files"

// The exit codes of a child, besides those of the Go runtime.
const (
	exitDone   = 0
	exitUsage  = 64
	exitMemory = 65
)

// Wanted reports whether a program was started as a child.
func Wanted(args []string) bool { return len(args) == 3 && args[0] == Verb }

// Main runs a child process: it reads files from in and writes their text to out until in
// ends. It returns the exit code. exit ends the process at once; Main calls it if the
// process exceeds its memory, or the parent dies while a file is parsed.
func Main(args []string, in io.Reader, out io.Writer, exit func(int)) int {
	if !Wanted(args) {
		return exitUsage
	}
	memory, err := strconv.ParseInt(args[1], 10, 64)
	seconds, err2 := strconv.ParseUint(args[2], 10, 32)
	if errors.Join(err, err2) != nil {
		return exitUsage
	}
	const stack = 64 << 20
	debug.SetMaxStack(stack)
	debug.SetMemoryLimit(memory / 4 * 3)
	limit(memory, seconds)
	go watch(memory, exit)

	files := make(chan file)
	go receive(in, files, exit)
	w := bufio.NewWriterSize(out, maxFrame)
	for f := range files {
		if f.serve(w) != nil || done(w, memory) != nil {
			return exitDone // the parent is gone
		}
	}
	return exitDone
}

// file is a request.
type file struct {
	format string
	data   []byte
}

// receive reads requests until in ends. It keeps reading while a file is parsed, as the
// end of in means that the parent is dead.
func receive(in io.Reader, files chan<- file, exit func(int)) {
	for {
		format, size, err := readRequest(in)
		if err != nil {
			break
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil {
			break
		}
		files <- file{format, data}
	}
	exit(exitDone)
}

// watch ends the process if it exceeds its memory. The kernel's limit is wider, as Go's
// heap grows by 64 MB at a time.
func watch(memory int64, exit func(int)) {
	const often = 5 * time.Millisecond
	tick := time.NewTicker(often)
	defer tick.Stop()
	for range tick.C {
		if used() > uint64(memory) {
			exit(exitMemory)
			return
		}
	}
}

// used returns the memory of the Go runtime, in bytes.
func used() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// serve parses a file and writes all frames except the last one.
func (f *file) serve(w *bufio.Writer) (err error) {
	out := &sink{w: w}
	problem := f.parse(out)
	switch {
	case out.err != nil:
		return out.err
	case problem == nil:
		return nil
	}
	kind := byte(frameRefused)
	if errors.Is(problem, ingest.ErrTooLarge) {
		kind = frameOver
	}
	message := problem.Error()
	return writeFrame(w, kind, []byte(message[:min(len(message), maxFrame)]))
}

// parse converts a parser's panic to an error.
func (f *file) parse(to extract.Sink) (err error) {
	defer func() {
		if recover() != nil {
			err = extract.Damaged(extract.Format(f.format))
		}
	}()
	return extract.Parse(context.Background(), extract.Format(f.format), f.data, to)
}

// done frees memory and writes what the process uses.
func done(w *bufio.Writer, memory int64) error {
	if used() > uint64(memory)/4 {
		debug.FreeOSMemory()
	}
	p := binary.BigEndian.AppendUint64(nil, used())
	p = binary.BigEndian.AppendUint64(p, uint64(cpuTime().Milliseconds()))
	if err := writeFrame(w, frameDone, p); err != nil {
		return err
	}
	return w.Flush()
}

// sink writes the text as frames.
type sink struct {
	w    *bufio.Writer
	size int
	err  error
}

func (s *sink) Page(number int) error {
	s.err = errors.Join(s.err, writeFrame(s.w, framePage, binary.BigEndian.AppendUint32(nil, uint32(number))))
	return s.err
}

func (s *sink) Write(text string) error {
	if s.size += len(text); s.size > extract.MaxText {
		return extract.TooMuchText()
	}
	for len(text) > 0 && s.err == nil {
		n := min(len(text), maxFrame)
		s.err = writeFrame(s.w, frameText, []byte(text[:n]))
		text = text[n:]
	}
	return s.err
}
