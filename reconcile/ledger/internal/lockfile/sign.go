package lockfile

import (
	"errors"
	"math/rand/v2"
	"os"
)

// Sign is a lock by which other processes tell whether this one still runs: a byte of a file
// that all of them have open, at a place of its own. However the process ends, the system
// gives the byte back.
type Sign struct {
	file  *os.File
	place int64
}

// places is how many there are: two processes never take the same one.
const places = 1 << 62

// NewSign takes a place in the file at path, which it creates if need be.
func NewSign(path string) (*Sign, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Sign{file, 1 + rand.Int64N(places)}
	if err := lockPlace(file, s.place); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// Place names this process to the others.
func (s *Sign) Place() int64 { return s.place }

// Runs reports whether the process with another place still runs; true where that cannot be
// told.
func (s *Sign) Runs(place int64) bool { return placeLocked(s.file, place) }

// Close gives the place back.
func (s *Sign) Close() error { return s.file.Close() }
