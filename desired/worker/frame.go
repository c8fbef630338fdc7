package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is a kind (1 byte), the payload's length (4 bytes, big endian) and
// the payload. The parent sends one order and then keeps the pipe
// open; the child sends begin and result frames, alive frames between them, and ends with done or error.
type frameKind byte

const (
	frameOrder  frameKind = 'o' // JSON, see order
	frameBegin  frameKind = 'b' // a step's name
	frameResult frameKind = 'r' // JSON
	frameDone   frameKind = 'd' // empty
	frameError  frameKind = 'e' // text
	frameAlive  frameKind = 'a' // empty: the child runs, whatever its job does
)

// maxFrame bounds one frame either way. Results are bounded by
// [Limits.Output] below this.
const maxFrame = 256 << 20

var errFrameTooBig = errors.New("the frame is too big")

func writeFrame(w io.Writer, kind frameKind, payload []byte) error {
	if len(payload) > maxFrame {
		return errFrameTooBig
	}
	frame := make([]byte, 5, 5+len(payload))
	frame[0] = byte(kind)
	binary.BigEndian.PutUint32(frame[1:], uint32(len(payload)))
	_, err := w.Write(append(frame, payload...))
	return err
}

// readFrame returns io.EOF where the stream ends between frames. A length
// that was not followed by as many bytes costs no memory.
func readFrame(r io.Reader, limit int64) (frameKind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	kind, n := frameKind(head[0]), int64(binary.BigEndian.Uint32(head[1:]))
	switch kind {
	case frameOrder, frameBegin, frameResult, frameDone, frameError, frameAlive:
	default:
		return 0, nil, fmt.Errorf("frame of unknown kind %#x", byte(kind))
	}
	if n > limit {
		return 0, nil, errFrameTooBig
	}
	var payload bytes.Buffer
	if _, err := io.CopyN(&payload, r, n); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return kind, payload.Bytes(), nil
}
