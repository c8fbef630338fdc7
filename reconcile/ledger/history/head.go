package history

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Known is a head that was noted outside of the ledger. The zero value is none.
type Known struct {
	Head
	Where string // "the file ledger.db-head"; empty for none
	// Missing says that there should be one, and why there is none.
	Missing string
	Absent  bool // there is no file at all
}

// headSize is the length of the file: 20 digits, a space, 64 hexadecimal digits, a line
// feed. It is written in place, in one piece that lies in one block of any disk.
const headSize = 20 + 1 + 64 + 1

// Text is a head as the file has it.
func (h Head) Text() string { return fmt.Sprintf("%020d %s\n", h.Number, h.Hash) }

// Write writes the file that says which the head is, without waiting for the disk.
func (h Head) Write(path string) error { return h.write(path, func(*os.File) error { return nil }) }

// Begin makes the file of a history that has no entry yet, on the disk: from then on a file
// that is not there, or is incomplete, was not lost with the power.
func Begin(path string) error { return Head{}.write(path, (*os.File).Sync) }

func (h Head) write(path string, last func(*os.File) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.WriteAt([]byte(h.Text()), 0); err == nil {
		err = last(file)
	}
	return errors.Join(err, file.Close())
}

// ReadHead reads the file. One that is not there, or that a loss of power has left
// incomplete, is missing.
func ReadHead(path string) (Known, error) {
	known := Known{Where: "the file " + path}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		known.Missing, known.Absent = "it is not there", true
		return known, nil
	}
	if err != nil {
		return known, err
	}
	if len(data) != headSize || data[headSize-1] != '\n' {
		known.Missing = "it is incomplete"
		return known, nil
	}
	if known.Head, err = ParseHead(strings.TrimSpace(string(data))); err != nil {
		known.Missing = err.Error()
	}
	return known, nil
}

// ParseHead reads "NUMBER HASH", or "NUMBER:HASH" as people write it.
func ParseHead(text string) (h Head, err error) {
	number, hash, ok := strings.Cut(strings.Replace(text, ":", " ", 1), " ")
	if !ok {
		return h, fmt.Errorf("%q is not NUMBER:HASH", text)
	}
	if h.Number, err = strconv.ParseInt(number, 10, 64); err != nil || h.Number < 0 {
		return h, fmt.Errorf("%q is not the number of an entry", number)
	}
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != len(h.Hash) {
		return h, fmt.Errorf("%q is not a hash of 64 hexadecimal digits", hash)
	}
	copy(h.Hash[:], raw)
	return h, nil
}
