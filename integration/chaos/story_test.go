//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// story is what is done to daemons and their database, one after the other, while nothing waits for what
// was done before.
type story struct {
	*fixture
	t        *testing.T
	chance   *rand.Rand
	kept     bool      // there is something to put the database back to
	restored time.Time // when it was put back last
	tokens   int
}

// steps are what a story is made of, by name.
var steps = map[string]func(*story) error{
	"push":            (*story).someonePushes,
	"token":           (*story).someoneDeclares,
	"kill -9":         func(s *story) error { r := s.any(); r.kill(); return r.start(s.t.Context()) },
	"SIGTERM":         func(s *story) error { r := s.any(); return errors.Join(r.end(), r.start(s.t.Context())) },
	"hand over":       (*story).handTokensOver,
	"cut":             func(s *story) error { return s.database.CutAll() },
	"away":            func(s *story) error { return s.away(time.Second) },
	"away for long":   func(s *story) error { return s.away(leaseLasts + 2*time.Second) },
	"keep":            func(s *story) error { s.kept = true; return s.database.Keep() },
	"put back":        (*story).putBack,
	"to file, and to": (*story).movedAndBack,
}

// drawStory draws one. A step that needs an earlier one is where that may come.
func drawStory(t *rapid.T, length int) []string {
	names := []string{"push", "push", "token", "kill -9", "SIGTERM", "hand over", "cut", "away", "away for long", "keep", "put back", "to file, and to"}
	return rapid.SliceOfN(rapid.SampledFrom(names), length, length).Draw(t, "steps")
}

// TestStories: whatever is done to daemons and their database, put back to an earlier time and moved as
// well, no token is created twice, nothing is written without being on record before, status does not say
// more than is known, and all goes on without a restart.
func TestStories(t *testing.T) {
	t.Parallel()
	o := shared(t)
	o.replicas, o.zones, o.credentials, o.sweep = 2, 12, 2, 10*time.Second
	length := 5
	if soak.On {
		length = 40
	}
	told := []string{"keep", "hand over", "token", "put back", "push"} // in each, as it is what is hardest
	told = append(told, rapid.Custom(func(t *rapid.T) []string { return drawStory(t, length) }).Example(int(o.seed&0x7fffffff))...)
	t.Logf("seed %d: %q", o.seed, told)
	var log bytes.Buffer
	o.log = &log
	f, err := newFixture(t.Context(), o, t.TempDir())
	must.Do(t, err)
	defer f.stop()
	s := &story{fixture: f, t: t, chance: rand.New(rand.NewPCG(o.seed, 5))}
	for n, name := range told {
		f.said(name, nil)
		if err := steps[name](s); err != nil {
			t.Fatalf("step %d, %s: %v\n%s", n, name, err, log.String())
		}
		s.neverTwice(name)
		sleep(t.Context(), upTo(s.chance, 1500*time.Millisecond))
	}
	must.Do(t, s.someonePushes())
	f.said("all is calm", nil)
	must.Do(t, f.await(t.Context(), "all that was pushed is live", func() bool { return f.wishes.settle(f.platform.live) == 0 }))
	for _, r := range f.replicas {
		if err := r.trouble(); err != nil {
			t.Error(err)
		}
	}
	s.allOnRecord()
	s.neverTwice("the end")
	if t.Failed() {
		t.Log(log.String())
	}
}

func (s *story) any() *replica { return s.replicas[s.chance.IntN(len(s.replicas))] }

func (s *story) someonePushes() error {
	a := s.fleet.accounts[s.chance.IntN(len(s.fleet.accounts))]
	s.wishes.settle(s.platform.live)
	return s.push(s.t.Context(), s.chance, s.wishes.free(s.chance, a, 2))
}

func (s *story) someoneDeclares() error {
	s.tokens++
	key := fmt.Sprintf("token-%03d", s.tokens)
	err := s.declareToken(s.t.Context(), s.chance, key)
	if err == nil && s.restored.IsZero() { // else tokens are unknown, and none is created
		err = s.await(s.t.Context(), key+" exists", func() bool { return s.exist()[key] > 0 })
	}
	return err
}

// handTokensOver has another replica do the work on tokens: the one that has done it knows nothing of what
// that puts on record.
func (s *story) handTokensOver() error {
	held, err := s.database.leases(s.t.Context())
	if err != nil || held[tokens].replica == "" {
		return err
	}
	r := s.named(held[tokens].replica)
	return errors.Join(r.end(), r.start(s.t.Context()))
}

// away stops the database for a while. A daemon says since when it is, and once its leases are over no
// zone is told of as in sync.
func (s *story) away(length time.Duration) error {
	if err := s.database.Crash(); err != nil {
		return err
	}
	sleep(s.t.Context(), length)
	if length > leaseLasts {
		for _, r := range s.replicas {
			status, err := s.status(r)
			if err != nil {
				return err
			}
			if status.Replicas == nil || status.Replicas.Silent.IsZero() || status.Zones.Outcomes[inspect.InSync] > 0 {
				s.t.Errorf("after %s without the database replica %s says: %+v, %v", length, r.name, status.Replicas, status.Zones.Outcomes)
			}
		}
	}
	return s.database.Again()
}

// status asks a daemon, whatever its verdict is.
func (s *story) status(r *replica) (status inspect.Status, err error) {
	out, err := exec.CommandContext(s.t.Context(), r.binary, "status", "-o", "json", "--config", r.config).Output()
	if len(out) == 0 {
		return status, err
	}
	return status, json.Unmarshal(out, &status)
}

// putBack has the database forget all since it was kept, while git is away. From when all daemons have seen
// that, nothing is written to a zone until git is back.
func (s *story) putBack() error {
	if !s.kept {
		return nil
	}
	first, away := s.restored.IsZero(), s.repo.Dir+"-away"
	sleep(s.t.Context(), 1500*time.Millisecond) // in which each daemon looks at the database
	if err := errors.Join(os.Rename(s.repo.Dir, away), s.database.PutBack()); err != nil {
		return err
	}
	s.restored = time.Now()
	s.withoutGit(first)
	return os.Rename(away, s.repo.Dir)
}

// withoutGit checks for a while that nothing is written to zones, once a daemon has seen that the database was
// put back, and all have learned it. must says that something was forgotten.
func (s *story) withoutGit(must bool) {
	seen, patience := false, 10*time.Second
	if must {
		patience = settling
	}
	for end := time.Now().Add(patience); !seen && time.Now().Before(end); sleep(s.t.Context(), 200*time.Millisecond) {
		rows, err := s.database.Ask(s.t.Context(), `SELECT mark FROM put_back WHERE mark <> 0`)
		seen = err == nil && len(rows) > 0
	}
	if !seen && must {
		s.t.Error("no daemon says that the database was put back")
	}
	if !seen {
		return
	}
	sleep(s.t.Context(), 2*time.Second) // a write that was on record before is on its way by then
	since := time.Now()
	sleep(s.t.Context(), 2*time.Second)
	told := 0
	for _, r := range s.replicas {
		if status, err := s.status(r); err == nil && status.Commit.LedgerPutBack {
			told++
		}
	}
	if told == 0 {
		s.t.Error("no status says that nothing is written before git was looked at")
	}
	for _, r := range s.platform.record() {
		if r.write() && strings.Contains(r.path, "/zones/") && r.at.After(since) {
			s.t.Errorf("%s %s was sent by %s before git was looked at", r.method, r.path, r.replica)
		}
	}
}

// movedAndBack moves the ledger to a file, has one daemon work over that, and moves it back.
func (s *story) movedAndBack() error {
	ctx := s.t.Context()
	for _, r := range s.replicas {
		if err := r.end(); err != nil {
			return err
		}
	}
	// A process that has ended runs as far as a database knows that was put back to a time at which it did,
	// for up to a minute: it passes.
	if _, err := s.database.Ask(ctx, `UPDATE process SET beat = beat - interval '2 minutes' RETURNING place`); err != nil {
		return err
	}
	r := s.replicas[0]
	shared, err := os.ReadFile(r.config)
	if err != nil {
		return err
	}
	alone := regexp.MustCompile(`postgres: \{[^}]*\}, `).ReplaceAll(shared, nil)
	if err := s.moveTo(r, "file"); err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(r.config, alone, 0o600), r.start(ctx)); err != nil {
		return err
	}
	if err := s.someonePushes(); err != nil {
		return err
	}
	if err := errors.Join(r.end(), os.WriteFile(r.config, shared, 0o600)); err != nil {
		return err
	}
	if err := s.moveTo(r, "postgres"); err != nil {
		return err
	}
	for _, r := range s.replicas {
		if err := r.start(ctx); err != nil {
			return err
		}
	}
	s.kept = false // it is of before the move: nothing opens it
	return nil
}

// moveTo moves the ledger. A replica that has ended runs as far as a database knows that was put back to
// a time at which it did, as long as a lease lasts.
func (s *story) moveTo(r *replica, place string) error {
	var failed error
	err := awaitEach(s.t.Context(), asking, "the ledger is moved to "+place, func() bool {
		_, failed = r.command(s.t.Context(), "state", "migrate", "--to", place)
		return failed == nil || !strings.Contains(failed.Error(), "is in use already")
	})
	return errors.Join(err, failed)
}

// neverTwice: of each declared token one exists at the most.
func (s *story) neverTwice(after string) {
	exist := s.exist()
	for key := range s.fleet.tokens {
		if exist[key] > 1 {
			s.t.Errorf("after %s: token %s exists %d times", after, key, exist[key])
		}
	}
}

// exist counts the tokens on the platform, by the key of their declaration.
func (s *story) exist() map[string]int {
	exist := map[string]int{}
	for _, token := range s.platform.sim.Platform.State().Tokens {
		key, _, _ := strings.Cut(token.Name, " [")
		exist[key]++
	}
	return exist
}

// allOnRecord: each write that the platform got since the database was put back last is on record.
func (s *story) allOnRecord() {
	rows, err := s.database.Ask(s.t.Context(), `SELECT body::json->'subject'->>'zone_id', body::json->>'at' FROM history WHERE body::json->>'kind' = 'write' AND body::json->'subject'->>'zone_id' IS NOT NULL`)
	must.Do(s.t, err)
	for zone := 1; zone <= s.fleet.size(); zone++ {
		id, recorded, sent := mem.FleetZone(zone).ID, 0, 0
		for _, row := range rows {
			if at, err := time.Parse(time.RFC3339Nano, row[1]); strings.Contains(row[0], id) && err == nil && !at.Before(s.restored) {
				recorded++
			}
		}
		for _, r := range s.platform.record() {
			if r.write() && strings.Contains(r.path, id) && r.at.After(s.restored) {
				sent++
			}
		}
		if sent > recorded {
			s.t.Errorf("zone %d was written %d times, and %d are on record", zone, sent, recorded)
		}
	}
	if s.restored.IsZero() && len(rows) == 0 {
		s.t.Error("nothing is on record")
	}
}
