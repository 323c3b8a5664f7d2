package child

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/p8-org/p8/internal/ingest"
)

// The parent sends requests, each a header and a file:
//
//	format [1]length + text · size uint64 · size bytes
//
// The child answers each with frames, [1]kind + uint32 length + payload:
//
//	page    uint32 number: the text from here on is of this page
//	text    a piece of the text
//	refused the problem of the file, for a client: the end
//	over    the limit that the file exceeds, for a client: the end
//	done    uint64 memory of the process in bytes, uint64 its CPU time in ms: the end
const (
	framePage    = 'p'
	frameText    = 't'
	frameRefused = 'r'
	frameOver    = 'o'
	frameDone    = 'd'
)

// maxFrame bounds a payload; longer texts are several frames.
const maxFrame = 64 << 10

func writeRequest(w io.Writer, format string, size int64) error {
	head := append([]byte{byte(len(format))}, format...)
	_, err := w.Write(binary.BigEndian.AppendUint64(head, uint64(size)))
	return err
}

// readRequest returns io.EOF if there are no more requests.
func readRequest(r io.Reader) (format string, size int64, err error) {
	var n [1]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return "", 0, err
	}
	head := make([]byte, int(n[0])+8)
	if _, err := io.ReadFull(r, head); err != nil {
		return "", 0, err
	}
	return string(head[:n[0]]), int64(binary.BigEndian.Uint64(head[n[0]:])), nil
}

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(payload)
	return err
}

// readFrame reads into buf, which has room for maxFrame bytes.
func readFrame(r io.Reader, buf []byte) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes", n)
	}
	if _, err := io.ReadFull(r, buf[:n]); err != nil {
		return 0, nil, err
	}
	return head[0], buf[:n], nil
}

// refusal is an error from the child.
type refusal struct {
	message string
	over    bool
}

func (e *refusal) Error() string { return e.message }

// Is makes a refusal because of a limit an ingest.ErrTooLarge.
func (e *refusal) Is(target error) bool { return e.over && target == ingest.ErrTooLarge }
