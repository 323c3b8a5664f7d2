package converse

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/p8-org/p8/cmd/p8/internal/watch"
)

// keyboard reads a raw terminal. While a run is shown, Ctrl-C is an interrupt; otherwise
// all input goes to Read.
type keyboard struct {
	chunks     chan []byte
	rest       []byte
	interrupts chan os.Signal
	mu         sync.Mutex
	running    bool
	// reports come from the watched folder; Read passes them to report while it waits. nil
	// without a folder.
	reports <-chan watch.Report
	report  func(watch.Report)
}

// The bounds of input that is not read yet: chunks, and bytes of each.
const (
	typedAhead = 64
	typedChunk = 4 << 10
)

// interruptKey is the byte of Ctrl-C.
const interruptKey = 3

var errTerminated = errors.New("terminated")

// newKeyboard reads in until it ends. signals are those of the process.
func newKeyboard(in io.Reader, signals chan os.Signal) *keyboard {
	k := &keyboard{chunks: make(chan []byte, typedAhead), interrupts: signals}
	go k.pump(in)
	return k
}

func (k *keyboard) pump(in io.Reader) {
	defer close(k.chunks)
	for {
		chunk := make([]byte, typedChunk)
		n, err := in.Read(chunk)
		if n > 0 && !k.keep(chunk[:n]) {
			k.chunks <- chunk[:n] // Read is behind
		}
		if err != nil {
			return
		}
	}
}

// keep queues a chunk or, while something runs, turns it into an interrupt. It reports
// whether there was room.
func (k *keyboard) keep(chunk []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running && bytes.IndexByte(chunk, interruptKey) >= 0 {
		k.interrupt()
		return true
	}
	select {
	case k.chunks <- chunk:
		return true
	default:
		return false
	}
}

func (k *keyboard) interrupt() {
	select {
	case k.interrupts <- os.Interrupt:
	default:
	}
}

// run makes Ctrl-C an interrupt until over is called, also one that was typed already.
func (k *keyboard) run() (over func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = true
	for range len(k.chunks) {
		if chunk := <-k.chunks; bytes.IndexByte(chunk, interruptKey) >= 0 {
			k.interrupt()
		} else {
			k.rest = append(k.rest, chunk...)
		}
	}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.running = false
	}
}

// Read returns input, or errTerminated on SIGTERM.
func (k *keyboard) Read(p []byte) (int, error) {
	for len(k.rest) == 0 {
		select {
		case chunk, ok := <-k.chunks:
			if !ok {
				return 0, io.EOF
			}
			k.rest = chunk
		case s := <-k.interrupts:
			if s == syscall.SIGTERM {
				return 0, errTerminated
			}
			k.rest = []byte{interruptKey}
		case found, ok := <-k.reports:
			if !ok {
				k.reports = nil
				continue
			}
			k.report(found)
		}
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}
