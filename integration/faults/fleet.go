package main

import (
	"fmt"
	"maps"
	"sync"

	"github.com/seawall-dev/seawall/edge/mem"
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
		name, text := f.folder(int(z-1) / zonesPerFolder)
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

// files are the whole repository.
func (f *fleet) files() map[string]string {
	files := map[string]string{
		"cue.mod/module.cue": "module: \"edge.example/fleet\"\nlanguage: version: \"v0.16.0\"\n",
		"base.cue":           fmt.Sprintf("package edge\n\naccount: prod: {\n\tid: %q\n\truleset: core: name: \"Core Ruleset\"\n}\n", mem.Account),
	}
	for n := range (f.size() + zonesPerFolder - 1) / zonesPerFolder {
		name, text := f.folder(n)
		files[name] = text
	}
	return files
}

// folder writes the declarations of one folder.
func (f *fleet) folder(n int) (name, text string) {
	text = "package edge\n\naccount: prod: zone: {\n"
	for i := n*zonesPerFolder + 1; i <= min((n+1)*zonesPerFolder, f.size()); i++ {
		text += fmt.Sprintf("\t%q: {id: %q, waf: core: threshold: {score: %d, action: \"block\"}}\n",
			fmt.Sprintf("zone-%05d.example", i), mem.FleetZone(i), f.scores[i])
	}
	return fmt.Sprintf("team-%03d/zones.cue", n), text + "}\n"
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
