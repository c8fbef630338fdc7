//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge/sim"
)

// result is what was seen.
type result struct {
	broken      []string
	requests    int
	writes      int
	pushes      int
	drifts      int
	takeovers   int
	afterPauses int
	worst       map[kind]time.Duration // the longest time with a holder
	slow, mean  float64                // of the machine
	busiest     int                    // of quota
	quota       int
	done        map[string]int
}

// end looks at everything once nothing is disturbed any more.
func (f *fixture) end(ctx context.Context) (result, error) {
	r := result{pushes: f.wishes.count(push), drifts: f.wishes.count(drift), done: f.done, quota: f.quota(), worst: map[kind]time.Duration{}}
	now := time.Now()
	for _, w := range f.wishes.all {
		r.worst[w.kind] = max(r.worst[w.kind], w.took(&f.held, &f.pace, now))
		if text := w.late(&f.held, &f.pace, f.within(w.kind, f.wishes.beside(w, now)), now); text != "" {
			r.broken = append(r.broken, text)
		}
	}
	r.slow, r.mean = f.pace.slowness()
	for _, check := range []func(context.Context) ([]string, error){f.endTokens, f.endReplicas, f.endInSync, f.endHistory} {
		broken, err := check(ctx)
		if err != nil {
			return r, err
		}
		r.broken = append(r.broken, broken...)
	}
	f.endTranscript(&r)
	return r, nil
}

// endReplicas ends all daemons, which have not ended by themselves. What is asked afterwards does not wait
// for the budget that their sweeps take.
func (f *fixture) endReplicas(context.Context) (broken []string, err error) {
	errs := make([]error, len(f.replicas))
	var ending sync.WaitGroup
	for i, r := range f.replicas {
		ending.Go(func() { errs[i] = cmp.Or(r.trouble(), r.end()) })
	}
	ending.Wait()
	for _, err := range errs {
		if err != nil {
			broken = append(broken, err.Error())
		}
	}
	return broken, nil
}

// endTranscript holds the requests to the laws.
func (f *fixture) endTranscript(r *result) {
	requests := f.platform.record()
	r.requests = len(requests)
	for _, one := range requests {
		if one.write() {
			r.writes++
		}
	}
	budgeted := f.budgeted
	if budgeted == nil {
		budgeted = requests
	}
	r.broken = append(r.broken, overBudget(budgeted, f.quota(), per)...)
	r.busiest = busiest(budgeted, per)
	if f.embedded {
		return
	}
	var pauses []span
	for _, replica := range f.replicas {
		pauses = append(pauses, replica.pauses...)
	}
	old, after := oldEpochs(requests, pauses)
	r.broken, r.afterPauses = append(append(r.broken, old...), unnamed(requests)...), after
	for _, what := range append(f.fleet.keys(), commits, tokens) {
		r.takeovers += f.held.changes(what)
	}
}

// tokenRecord is one of `seawall token list`.
type tokenRecord struct{ Key, ID, State string }

func (f *fixture) tokenRecords(ctx context.Context) ([]tokenRecord, error) {
	out, err := f.replicas[0].command(ctx, "token", "list", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct{ Tokens []tokenRecord }
	return list.Tokens, json.Unmarshal([]byte(out), &list)
}

// recordedTokens are the tokens on record; ok: each that is declared is there, and none is under way.
func (f *fixture) recordedTokens(ctx context.Context) (records []tokenRecord, ok bool) {
	records, err := f.tokenRecords(ctx)
	known := map[string]bool{}
	for _, r := range records {
		if known[r.Key] = true; r.State != "created" && r.State != "quarantined" {
			return nil, false
		}
	}
	return records, err == nil && len(known) >= len(f.fleet.tokens)
}

// endTokens compares the ledger with the platform, and then gives a person's word on what is
// quarantined, and waits until that is done.
func (f *fixture) endTokens(ctx context.Context) (broken []string, err error) {
	var records []tokenRecord
	ready := func() (ok bool) {
		records, ok = f.recordedTokens(ctx)
		return ok
	}
	if err := awaitEach(ctx, asking, "every declared token is on record", ready); err != nil {
		return []string{err.Error()}, nil //nolint:nilerr // it is what is broken
	}
	facts := f.tokenFacts(records)
	broken = brokenTokens(facts)
	words := 0
	for key, fact := range facts {
		for _, id := range fact.existing {
			if fact.quarantined > 0 && !slices.Contains(fact.confirmed, id) {
				if err := f.resolve(ctx, key, "--adopt", id); err != nil {
					return nil, err
				}
				fact.quarantined--
				words++
			}
		}
		if fact.quarantined > 0 {
			words++
			if err := f.resolve(ctx, key, "--retry"); err != nil {
				return nil, err
			}
		}
	}
	if words > 0 {
		more, err := f.endInSync(ctx)
		return append(broken, more...), err
	}
	return broken, nil
}

// resolve has a person give a word, on the machine of the replica that does the work on tokens.
func (f *fixture) resolve(ctx context.Context, key string, word ...string) error {
	var err error
	for _, r := range f.replicas {
		if _, err = r.command(ctx, append([]string{"token", "resolve", key}, word...)...); err == nil || !worksElsewhere(err) {
			return err
		}
	}
	return err
}

// worksElsewhere reports whether a command about tokens was given to the wrong replica, which does
// nothing.
func worksElsewhere(err error) bool {
	return err != nil && strings.Contains(err.Error(), "does the work on tokens")
}

// tokenFacts are those of each declared token. A token has the name of its declaration.
func (f *fixture) tokenFacts(records []tokenRecord) map[string]tokenFacts {
	facts := map[string]tokenFacts{}
	for key, rotates := range f.fleet.tokens {
		fact := tokenFacts{mayBe: 1}
		if rotates {
			fact.mayBe += f.rotations[key]
		}
		for _, token := range f.platform.sim.Platform.State().Tokens {
			if name, _, _ := strings.Cut(token.Name, " ["); name == key {
				fact.existing = append(fact.existing, token.ID)
			}
		}
		for _, r := range records {
			switch {
			case r.Key != key:
			case r.State == "created":
				fact.confirmed = append(fact.confirmed, r.ID)
			default:
				fact.quarantined++
			}
		}
		facts[key] = fact
	}
	return facts
}

// endInSync: every zone is as the newest commit says, and a plan has nothing to do: a daemon that runs does
// what a person has said of tokens.
func (f *fixture) endInSync(ctx context.Context) (broken []string, err error) {
	for zone := 1; zone <= f.fleet.size(); zone++ {
		if live, want := f.platform.live(zone), f.fleet.want(zone); live != want {
			broken = append(broken, fmt.Sprintf("zone %d has the threshold %d, want %d", zone, live, want))
		}
	}
	planner, err := f.planner()
	if err != nil {
		return broken, err
	}
	var said string
	empty := func() bool {
		var exit *exec.ExitError
		out, err := planner.command(ctx, "plan", "--detailed-exitcode")
		if said = out; errors.As(err, &exit) {
			said = out + err.Error()
		}
		return err == nil
	}
	if err := awaitEach(ctx, asking, "a plan is empty", empty); err != nil {
		broken = append(broken, err.Error()+":\n"+said)
	}
	return broken, nil
}

// planner is the first replica, for commands. In a short run it waits for no budget, which is used up for
// most of a span: the requests until then are what is held to the budget.
func (f *fixture) planner() (*replica, error) {
	first := f.replicas[0]
	if f.length >= time.Minute {
		return first, nil
	}
	if f.budgeted == nil {
		f.budgeted = f.platform.record()
		f.platform.sim.SetRateLimit(sim.RateLimit{Off: true})
	}
	text, err := os.ReadFile(first.config)
	if err != nil {
		return nil, err
	}
	text = bytes.Replace(text, fmt.Appendf(nil, "requests: %d,", f.quota()), []byte("requests: 1000000,"), 1)
	free := &replica{name: first.name, binary: first.binary, dir: first.dir, config: filepath.Join(first.dir, "free.cue")}
	return free, os.WriteFile(free.config, text, 0o600)
}

// endHistory: the chain of the history is whole.
func (f *fixture) endHistory(ctx context.Context) ([]string, error) {
	if out, err := f.replicas[0].command(ctx, "history", "verify"); err != nil {
		return []string{err.Error() + out}, nil //nolint:nilerr // it is what is broken
	}
	return nil, nil
}

// text renders the result, in Markdown.
func (r result) text(o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s over %d zones on %d credentials, %d replicas, seed %d:\n\n", o.length, o.zones, o.credentials, o.replicas, o.seed)
	for _, d := range disturbances(o.embedded) {
		fmt.Fprintf(&b, "- %s: %d times\n", d.name, r.done[d.name])
	}
	fmt.Fprintf(&b, "- %d zones pushed, %d drifted; %d requests, of them %d writes\n", r.pushes, r.drifts, r.requests, r.writes)
	fmt.Fprintf(&b, "- leases were taken over %d times; %d writes came out of a pause after the new holder's first one\n", r.takeovers, r.afterPauses)
	fmt.Fprintf(&b, "- with one holder there, a push took %s at the most, and drift was healed within %s", r.worst[push].Round(time.Second/10), r.worst[drift].Round(time.Second/10))
	fmt.Fprintf(&b, " (less what this machine was slower than an idle one: %.1f times, and %.1f at the most)\n", r.mean, r.slow)
	fmt.Fprintf(&b, "- the busiest span of %s had %d of %d requests\n", per, r.busiest, r.quota)
	return b.String()
}
