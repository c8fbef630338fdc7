package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// survey reads zones and declares what they run.
type survey struct {
	platform Platform
	work     *progress
	show     func(done, total int)
	lane     map[edge.AccountID]int // whose credential reads an account
	state    []laneState            // of each lane

	listings onceEach[edge.AccountID, []edge.Ruleset]
	rulesets onceEach[managedKey, managed]
	aheadOf  onceEach[edge.AccountID, diff.Ahead]

	mu      sync.Mutex
	records map[edge.ZoneID]record
}

// laneState is how a lane fares.
type laneState struct {
	silent   atomic.Int64           // zones in a row that the platform did not answer
	rejected atomic.Pointer[string] // why the platform rejects the credential; nil: it does not
}

// managed is a managed ruleset, and what declares execute rules of it.
type managed struct {
	ruleset  edge.Ruleset
	declarer *planner.Declarer
}

// managedKey says which one of an account. The version is empty for the newest.
type managedKey struct {
	account edge.AccountID
	diff.RulesetVersion
}

// onceEach has what was read by its key: each once, by whoever needs it first. The zero value
// is ready for use.
type onceEach[K comparable, V any] struct {
	mu    sync.Mutex
	reads map[K]func() (V, error)
}

func (o *onceEach[K, V]) get(key K, read func() (V, error)) (V, error) {
	o.mu.Lock()
	if o.reads == nil {
		o.reads = map[K]func() (V, error){}
	}
	if o.reads[key] == nil {
		o.reads[key] = sync.OnceValues(read)
	}
	once := o.reads[key]
	o.mu.Unlock()
	return once()
}

// had is what was read; the zero value where nothing was.
func (o *onceEach[K, V]) had(key K) (value V) {
	if once := o.reads[key]; once != nil {
		value, _ = once()
	}
	return value
}

func newSurvey(p Platform, work *progress, lane map[edge.AccountID]int) *survey {
	return &survey{platform: p, work: work, lane: lane, state: make([]laneState, len(p.Lanes.All)), records: map[edge.ZoneID]record{}}
}

// silence is after how many zones in a row without an answer the platform counts as down.
const silence = 50

// reader reads an account with its credential.
func (s *survey) reader(account edge.AccountID) edge.Reader {
	return s.platform.Lanes.All[s.lane[account]].Reader
}

// read reads all zones, some of each lane at once. It fails where nothing else could work;
// any other failure is in the record of its zone.
func (s *survey) read(ctx context.Context, found targets) error {
	lanes, reading := errgroup.WithContext(ctx)
	var done atomic.Int64
	for i, lane := range s.platform.Lanes.All {
		lanes.Go(func() error {
			group, reading := errgroup.WithContext(reading)
			group.SetLimit(lane.AtOnce())
			for _, z := range found.zones {
				if s.lane[z.Account] != i || reading.Err() != nil {
					continue
				}
				group.Go(func() error {
					if err := s.zone(reading, z); err != nil {
						return err
					}
					s.mu.Lock()
					defer s.mu.Unlock()
					s.show(int(done.Add(1)), len(found.zones))
					return nil
				})
			}
			return group.Wait()
		})
	}
	err := lanes.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (s *survey) zone(ctx context.Context, z target) error {
	r, known := s.work.of(z)
	var err error
	rejected := func(why string) record {
		return record{Zone: z.ID, Name: z.Name, Account: z.Account, Failed: why, rejected: true}
	}
	switch why := s.rejection(z); {
	case why != "":
		r = rejected(why)
	case known:
		err = s.recall(ctx, r)
	default:
		if r, err = s.look(ctx, z); err == nil {
			err = s.work.add(r)
		}
	}
	if errors.Is(err, edge.ErrUnauthenticated) && len(s.state) > 1 {
		why := refused(s.platform.Lanes.All[s.lane[z.Account]], err)
		s.state[s.lane[z.Account]].rejected.CompareAndSwap(nil, &why)
		r, err = rejected(why), nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[z.ID] = r
	return nil
}

// rejection is why the credential of a zone is not used any more; empty while it is.
func (s *survey) rejection(z target) string {
	if why := s.state[s.lane[z.Account]].rejected.Load(); why != nil {
		return *why
	}
	return ""
}

// recall reads the managed rulesets that a zone runs which was read before.
func (s *survey) recall(ctx context.Context, r record) error {
	for _, d := range r.Deployments {
		if _, err := s.managed(ctx, r.Account, edge.RulesetID(d.Ruleset)); err != nil {
			return fmt.Errorf("reading managed ruleset %s: %w", d.Ruleset, err)
		}
	}
	return nil
}

// look reads one zone.
func (s *survey) look(ctx context.Context, z target) (record, error) {
	r := record{Zone: z.ID, Name: z.Name, Account: z.Account, At: time.Now().UTC()}
	listed, err := s.listed(ctx, z.Account)
	if err == nil {
		var entryPoint edge.Ruleset
		entryPoint, err = s.reader(z.Account).EntryPoint(ctx, edge.ZoneScope(z.ID), edge.PhaseFirewallManaged)
		if err == nil || errors.Is(err, edge.ErrEntryPointNotFound) {
			err = cmp.Or(s.declareOthers(ctx, &r, entryPoint), err)
		}
		if err == nil {
			err = s.declare(ctx, &r, entryPoint, listed)
		}
	}
	if !errors.Is(err, edge.ErrUnavailable) && !errors.Is(err, edge.ErrThrottled) {
		s.state[s.lane[z.Account]].silent.Store(0)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case errors.Is(err, edge.ErrEntryPointNotFound):
		r.Notes = append(r.Notes, "Nothing is deployed in this zone.")
	case errors.Is(err, edge.ErrUnauthenticated):
		return r, err
	default:
		r.Failed, r.Deployments, r.Others, r.Notes = cli.OneLine(err.Error()), nil, nil, nil
		if s.state[s.lane[z.Account]].silent.Add(1) >= silence {
			return r, fmt.Errorf("%d zones in a row without an answer: %w", silence, err)
		}
	}
	return r, nil
}

// listed reads the rulesets of an account, once.
func (s *survey) listed(ctx context.Context, id edge.AccountID) ([]edge.Ruleset, error) {
	return s.listings.get(id, func() ([]edge.Ruleset, error) { return s.reader(id).Rulesets(ctx, edge.AccountScope(id)) })
}

// managed reads a managed ruleset, once.
func (s *survey) managed(ctx context.Context, account edge.AccountID, id edge.RulesetID) (managed, error) {
	return s.rulesets.get(managedKey{account, diff.RulesetVersion{Ruleset: id}}, func() (managed, error) {
		if _, err := s.listed(ctx, account); err != nil {
			return managed{}, err
		}
		newest, err := s.reader(account).Ruleset(ctx, edge.AccountScope(account), id)
		if err != nil {
			return managed{}, err
		}
		return s.declaring(newest), nil
	})
}

// declarer declares execute rules of a managed ruleset, in the version that the rule runs: the
// newest, or the one that it is pinned to where the platform can be asked for that.
func (s *survey) declarer(ctx context.Context, account edge.AccountID, m managed, rule edge.Rule) (*planner.Declarer, error) {
	reader, version := s.reader(account), rulesets.VersionOf(rule)
	if version == rulesets.Latest || version == m.ruleset.Version || s.platform.Documented || !reader.Offers(edge.CallRulesetVersion, edge.LevelAccount) {
		return m.declarer, nil
	}
	at := diff.RulesetVersion{Ruleset: m.ruleset.ID, Version: version}
	pinned, err := s.rulesets.get(managedKey{account, at}, func() (managed, error) {
		older, err := reader.RulesetVersion(ctx, edge.AccountScope(account), m.ruleset.ID, version)
		if err != nil {
			return managed{}, fmt.Errorf("version %s: %w", version, err)
		}
		older.Name = m.ruleset.Name
		return s.declaring(older), nil
	})
	return pinned.declarer, err
}

func (s *survey) declaring(ruleset edge.Ruleset) managed {
	return managed{ruleset, planner.NewDeclarer(ruleset, s.platform.Documented)}
}

// declare declares what an entry point runs. It fails where a managed ruleset could not
// be read: of the zone nothing is known then.
func (s *survey) declare(ctx context.Context, r *record, entryPoint edge.Ruleset, listed []edge.Ruleset) error {
	byID := map[edge.RulesetID]edge.Ruleset{}
	for _, ruleset := range listed {
		byID[ruleset.ID] = ruleset
	}
	rules, order := executed(entryPoint)
	for _, id := range order {
		ruleset, known := byID[id]
		switch {
		case !known:
			r.Left = append(r.Left, fmt.Sprintf("it runs ruleset %s, which the account does not list", id))
			continue
		case ruleset.Kind != edge.KindManaged || ruleset.Phase != edge.PhaseFirewallManaged:
			r.Notes = append(r.Notes, fmt.Sprintf("It also runs %q, which is no managed ruleset: Seawall leaves it as it is.", ruleset.Name))
			continue
		case len(rules[id]) > 1:
			r.Left = append(r.Left, fmt.Sprintf("%d execute rules run %q; remove all but one of them", len(rules[id]), ruleset.Name))
			continue
		}
		rule := rules[id][0]
		m, err := s.managed(ctx, r.Account, id)
		var declarer *planner.Declarer
		if err == nil {
			declarer, err = s.declarer(ctx, r.Account, m, rule)
		}
		if err != nil {
			return fmt.Errorf("managed ruleset %q: %w", ruleset.Name, err)
		}
		d := declarer.Declare(rule)
		if !declarer.Agrees(d, rule) {
			r.Left = append(r.Left, fmt.Sprintf("%q lists a tag twice, with different values; remove one of the two", ruleset.Name))
			continue
		}
		if d.Unmanaged != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("What %q runs cannot be declared in full: what is not declared is kept.", ruleset.Name))
		}
		d.Ruleset = string(id)
		if r.ahead == nil {
			if err := s.lookAhead(ctx, r); err != nil {
				return err
			}
		}
		s.accept(r, &d, declarer, entryPoint, rule)
		r.Deployments = append(r.Deployments, d)
	}
	if note := otherRules(entryPoint, r.Bypasses, r.beside); note != "" {
		r.Notes = append(r.Notes, note)
	}
	if len(order) == 0 {
		r.Notes = append(r.Notes, "No managed ruleset is deployed in this zone.")
	}
	return nil
}

// declareOthers declares what a zone has of other kinds; managed is the entry point that was
// read already.
func (s *survey) declareOthers(ctx context.Context, r *record, managed edge.Ruleset) error {
	for _, kind := range planner.Declarers(s.deployedIn(ctx, r, managed), r.At) {
		entryPoint, err := managed, error(nil)
		if _, at := kind.(diff.DeclarerAt); (at || kind.Phase() != edge.PhaseFirewallManaged) && !s.platform.Rules {
			continue
		}
		if kind.Phase() != edge.PhaseFirewallManaged {
			entryPoint, err = s.reader(r.Account).EntryPoint(ctx, edge.ZoneScope(r.Zone), kind.Phase())
			if errors.Is(err, edge.ErrForbidden) { // the rest of the zone can be read
				r.Left = append(r.Left, fmt.Sprintf("its %ss could not be read: %s", kind.Name().Word(), cli.OneLine(err.Error())))
				continue
			}
		}
		if err != nil && !errors.Is(err, edge.ErrEntryPointNotFound) {
			return err
		}
		declared := kind.Declare(entryPoint)
		r.Others = append(r.Others, declared...)
		for _, o := range declared {
			if kind.Phase() == edge.PhaseFirewallManaged {
				r.beside = append(r.beside, o.Key)
			}
		}
	}
	return nil
}

// deployedIn is what is known of a deployment of a zone, by the id of its managed ruleset.
func (s *survey) deployedIn(ctx context.Context, r *record, entryPoint edge.Ruleset) func(string) diff.Deployed {
	rules, _ := executed(entryPoint)
	return func(name string) diff.Deployed {
		id := edge.RulesetID(name)
		m, err := s.managed(ctx, r.Account, id)
		if err != nil || len(rules[id]) != 1 {
			return diff.Deployed{}
		}
		declarer, err := s.declarer(ctx, r.Account, m, rules[id][0])
		if err != nil {
			return diff.Deployed{}
		}
		return declarer.Deployed(edge.ZoneScope(r.Zone), name, rules[id][0])
	}
}

// executed sorts the rules of an entry point by the ruleset that they run, in their order.
func executed(entryPoint edge.Ruleset) (rules map[edge.RulesetID][]edge.Rule, order []edge.RulesetID) {
	rules = map[edge.RulesetID][]edge.Rule{}
	for _, rule := range entryPoint.Rules {
		if rule.Action != edge.ActionExecute || rule.ActionParameters == nil {
			continue
		}
		id := rule.ActionParameters.ID
		if !slices.Contains(order, id) {
			order = append(order, id)
		}
		rules[id] = append(rules[id], rule)
	}
	return rules, order
}
