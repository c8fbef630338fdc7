// Package planfile saves plans, to be applied later as they are or not at all. A
// [diff.Plan] goes in, a [Saved] comes out; a saved plan and a plan of now give the
// differences. It must not import the packages that make or guard plans.
package planfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge/exactjson"
)

// SavedVersion is the version of the JSON form of a saved plan.
const SavedVersion = 1

// savedKind tells a saved plan from the JSON form of one that was only shown.
const savedKind = "seawall-plan"

// Saved is a plan that somebody has looked at, to be applied as it is or not at
// all. It holds no secret: a plan knows none.
type Saved struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`
	// Commit is what the plan was made of; empty for a folder that is not git.
	Commit    string    `json:"commit"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Platform is the base address of what was looked at.
	Platform string `json:"platform"`
	// From is what the plan was made from; nil where an earlier version saved it.
	From *SavedFrom `json:"from,omitempty"`
	// Zones and Tokens are the keys that the plan was limited to; none is all.
	Zones  []string `json:"zones,omitempty"`
	Tokens []string `json:"tokens,omitempty"`
	// Digest stands for all that applying would do: the operations below.
	Digest     string           `json:"digest"`
	Operations []SavedOperation `json:"operations"`
	// Plan is the plan for people and programs to read; applying goes by the
	// operations.
	Plan json.RawMessage `json:"plan"`
}

// SavedFrom is what a plan was made from, so that applying it needs no flag repeated.
type SavedFrom struct {
	Dir    SavedPath `json:"dir,omitzero"`    // of desired state; zero for git
	Config SavedPath `json:"config,omitzero"` // the configuration file; zero for none
	// BaseURL says that the platform was named on the command line, and not by the
	// configuration.
	BaseURL bool `json:"base_url,omitempty"`
	// Profile is that of the command line; empty where the configuration says it.
	Profile string `json:"profile,omitempty"`
}

// SavedPath is a path as it was named, and where that was.
type SavedPath struct {
	Given    string `json:"given"`
	Absolute string `json:"absolute"`
}

// SavedOperation is one write that a plan would make.
type SavedOperation struct {
	About   string      `json:"about"` // account, zone and deployment, or the token
	Action  diff.Action `json:"action"`
	Version string      `json:"version,omitempty"` // of the entry point when it was read
	Digest  string      `json:"digest"`            // of what would be sent, and what that alters
}

// Save keeps a plan for applying it later. What is refused is not part of what
// applying would do.
func Save(p diff.Plan, now time.Time, valid time.Duration) (Saved, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return Saved{}, fmt.Errorf("encoding the plan: %w", err)
	}
	operations := operationsOf(p)
	return Saved{
		Version: SavedVersion, Kind: savedKind, Commit: p.Commit, CreatedAt: now.UTC(), ExpiresAt: now.Add(valid).UTC(),
		Digest: digestOf(operations), Operations: operations, Plan: data,
	}, nil
}

func operationsOf(p diff.Plan) []SavedOperation {
	operations := []SavedOperation{}
	for _, c := range p.Changes {
		if c.Applies() {
			operations = append(operations, SavedOperation{c.Name(), c.Action(), c.Do().Seen(), c.ApprovalDigest()})
		}
	}
	return operations
}

// digestOf leaves out versions: a write that altered nothing of what is planned
// does not change what applying would do.
func digestOf(operations []SavedOperation) string {
	digests := make([]string, len(operations))
	for i, o := range operations {
		digests[i] = o.Digest
	}
	slices.Sort(digests)
	return "sha256:" + words.Digest(digests)
}

// ErrNotSaved: the file is no saved plan.
var ErrNotSaved = errors.New("this is not a saved plan")

// PlaceError says where a file is no saved plan. It answers [errors.Is] for [ErrNotSaved].
type PlaceError struct {
	Line, Column int // from 1
	Reason       string
}

func (e *PlaceError) Error() string { return fmt.Sprintf("%v: %s", ErrNotSaved, e.Reason) }

// Unwrap returns [ErrNotSaved].
func (e *PlaceError) Unwrap() error { return ErrNotSaved }

func placed(data []byte, offset int, reason string) error {
	line, column := exactjson.Place(data, offset)
	return &PlaceError{line, column, reason}
}

// ReadSaved reads a saved plan. It returns [ErrNotSaved] for anything else, also
// for one that was altered by hand, that has anything behind it, or a key twice.
func ReadSaved(r io.Reader) (Saved, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Saved{}, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	s, err := decodeSaved(data)
	if err != nil {
		return Saved{}, err
	}
	switch {
	case s.Kind != savedKind:
		return Saved{}, ErrNotSaved
	case s.Version != SavedVersion:
		return Saved{}, fmt.Errorf("%w of this version of Seawall: it has version %d, this program reads %d", ErrNotSaved, s.Version, SavedVersion)
	case s.Digest != digestOf(s.Operations):
		return Saved{}, fmt.Errorf("%w any more: its operations were changed after it was saved", ErrNotSaved)
	}
	return s, nil
}

func decodeSaved(data []byte) (s Saved, err error) {
	var syntax *json.SyntaxError
	var ambiguous *exactjson.Error
	switch err := json.Unmarshal(data, &s); {
	case errors.As(err, &syntax):
		return s, placed(data, int(syntax.Offset)-1, err.Error())
	case err != nil:
		return s, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	if errors.As(exactjson.Check(data), &ambiguous) {
		return s, placed(data, ambiguous.Offset, ambiguous.Reason)
	}
	return s, nil
}

// Differences tells in what a plan that was made now would do something else, in
// the order of the plans; none where applying would do what was looked at. Each line
// names the members that differ.
func (s Saved) Differences(now diff.Plan) []string {
	then, today := s.byDigest(), map[string]SavedOperation{}
	var lines []string
	wrote, writes := changesOf(s.Plan), changesOf(now)
	operations := operationsOf(now)
	for _, o := range operations {
		today[o.Digest] = o
		if _, was := then[o.Digest]; !was {
			lines = append(lines, s.explain(o)+differing(wrote[o.subject()], writes[o.subject()]))
		}
	}
	for _, o := range s.Operations {
		_, is := today[o.Digest]
		if !is && !slices.ContainsFunc(operations, o.sameSubject) {
			reason := refusedNow(o, now)
			if reason == "" {
				reason = differing(wrote[o.subject()], savedChange{})
			}
			lines = append(lines, fmt.Sprintf("%s: %s would no longer be made%s", o.About, o.Action, reason))
		}
	}
	return lines
}

// explain says how an operation of now is not one of those that were saved.
func (s Saved) explain(o SavedOperation) string {
	i := slices.IndexFunc(s.Operations, o.sameSubject)
	switch {
	case i < 0:
		return fmt.Sprintf("%s: %s is not in the plan", o.About, o.Action)
	case s.Operations[i].Version != o.Version:
		return fmt.Sprintf("%s: %s would be different (the entry point was at version %s and is now at %s)", o.About, o.Action, s.Operations[i].Version, o.Version)
	}
	return fmt.Sprintf("%s: %s would be different", o.About, o.Action)
}

func (o SavedOperation) sameSubject(other SavedOperation) bool {
	return o.About == other.About && o.Action == other.Action
}

func refusedNow(o SavedOperation, now diff.Plan) string {
	for _, c := range now.Changes {
		if c.Name() == o.About && c.Action() == o.Action && c.Refused != nil {
			return ", " + c.Refused.Reason
		}
	}
	return ""
}

func (s Saved) byDigest() map[string]SavedOperation {
	m := map[string]SavedOperation{}
	for _, o := range s.Operations {
		m[o.Digest] = o
	}
	return m
}
