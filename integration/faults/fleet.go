package main

import (
	"maps"
	"sync"

	"github.com/seawall-dev/seawall/integration/harness"
)

// zone is the number of a zone of a [mem.Fleet], counted from 1.
type zone int

// The zones of every fleet have roles. The first is the one that a fault is
// about, some are for pushes, and in the others drift is planted.
const (
	faulty    zone = 1
	pushed    zone = 2 // and the next ones
	pushZones      = 5
)

// zonesPerFolder is how wide one folder of the repository is.
const zonesPerFolder = 30

// planted is the threshold of drift. No commit asks for it.
const planted = 1000

// fleet is what the newest commit declares: a threshold for each zone. It also
// counts the reasons to write to a zone.
type fleet struct {
	mu      sync.Mutex
	scores  []int // by zone; the first is no zone's
	reasons map[zone]int
}

func newFleet(zones int) *fleet {
	f := &fleet{scores: make([]int, zones+1), reasons: map[zone]int{}}
	for i := range f.scores {
		f.scores[i] = 20 + i%30
	}
	return f
}

func (f *fleet) size() int { return len(f.scores) - 1 }

// want is what a zone should have.
func (f *fleet) want(z zone) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scores[z]
}

// wants is what some zones should have.
func (f *fleet) wants(zones []zone) map[zone]int {
	scores := map[zone]int{}
	for _, z := range zones {
		scores[z] = f.want(z)
	}
	return scores
}

// declare takes over what a commit changes, and returns the files that say so.
func (f *fleet) declare(changes map[zone]int) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	files := map[string]string{}
	for z, score := range changes {
		f.scores[z] = score
		f.reasons[z]++
	}
	for z := range changes {
		name, text := f.tree().Folder(int(z))
		files[name] = text
	}
	return files
}

// planted counts drift as a reason to write.
func (f *fleet) planted(z zone) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reasons[z]++
}

func (f *fleet) reasonsToWrite() map[zone]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.reasons)
}

// tree is the repository as it is to be. Whoever asks for its text holds the lock, or is alone.
func (f *fleet) tree() harness.Tree {
	return harness.Tree{Zones: f.size(), PerFolder: zonesPerFolder, Deployment: func(z int) string { return harness.Block(f.scores[z]) }}
}

// span is the zones from first to last.
func span(first, last zone) []zone {
	zones := make([]zone, 0, last-first+1)
	for z := first; z <= last; z++ {
		zones = append(zones, z)
	}
	return zones
}

// all gives each of the zones the same threshold.
func all(zones []zone, score int) map[zone]int {
	changes := map[zone]int{}
	for _, z := range zones {
		changes[z] = score
	}
	return changes
}
