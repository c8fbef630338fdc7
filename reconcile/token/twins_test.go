package token

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// journal notes every step that a worker takes, in order. A step may fail before it
// takes effect, lose its answer after, or be the last one of its process.
type journal struct {
	taken []string
	fail  map[string]error // by step: it does not take effect
	lost  map[string]bool  // by step: it takes effect, and its outcome is unknown

	at, moment int    // the moment to die at, counted from 1 by twos a step; zero is never
	after      string // the step to die after
}

var (
	errCrash = errors.New("crash")
	errLost  = fmt.Errorf("reading the answer: %w: %w", edge.ErrOutcomeUnknown, errors.New("connection reset"))
)

func (j *journal) step(name string, do func() error) error {
	j.taken = append(j.taken, name)
	j.mayDie("")
	if err := j.fail[name]; err != nil {
		return err
	}
	err := do()
	j.mayDie(name)
	if j.lost[name] {
		return errors.Join(err, errLost)
	}
	return err
}

// mayDie panics as a process would be killed.
func (j *journal) mayDie(after string) {
	if j.moment++; j.moment == j.at || after != "" && after == j.after {
		panic(errCrash)
	}
}

// memory is the ledger's tokens in memory, as strict as the ledger.
type memory struct {
	*journal
	live   diff.TokensLive
	sealed map[string]edge.Secret
	held   bool // another process has the lock
}

var errState = errors.New("the attempt is in another state")

func (m *memory) record(intent string) *diff.TokenRecord {
	i := slices.IndexFunc(m.live.Records, func(r diff.TokenRecord) bool { return r.Intent == intent })
	if i < 0 {
		return &diff.TokenRecord{}
	}
	return &m.live.Records[i]
}

// advance takes a step with an attempt that is in one of some states.
func (m *memory) advance(name, intent string, from []diff.TokenState, do func(*diff.TokenRecord)) error {
	return m.step(name, func() error {
		r := m.record(intent)
		if m.held || !slices.Contains(from, r.State) {
			return fmt.Errorf("%s: %w: %q", name, errState, r.State)
		}
		do(r)
		return nil
	})
}

var (
	intended  = []diff.TokenState{diff.TokenIntended}
	unproved  = []diff.TokenState{diff.TokenIntended, diff.TokenQuarantined}
	confirmed = []diff.TokenState{diff.TokenConfirmed}
)

func (m *memory) Tokens(context.Context) (diff.TokensLive, error) {
	if m.held {
		return diff.TokensLive{Unknown: "process 7 has the lock", Hint: "let that process manage the tokens, or stop it"}, nil
	}
	live := m.live
	live.Records = slices.Clone(live.Records)
	return live, nil
}

func (m *memory) Intend(ctx context.Context, r diff.TokenRecord) error {
	return m.step("intend", func() error {
		open := slices.ContainsFunc(m.live.Records, func(other diff.TokenRecord) bool {
			return other.Intent == r.Intent || other.Key == r.Key && other.State != diff.TokenConfirmed
		})
		if open || m.held || m.live.Unknown != "" {
			return errState
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		m.live.Records = append(m.live.Records, r)
		return nil
	})
}

func (m *memory) NotCreated(_ context.Context, intent string) error {
	return m.advance("not created", intent, unproved, func(*diff.TokenRecord) { m.drop(intent) })
}

func (m *memory) Quarantine(_ context.Context, intent, reason string) error {
	return m.advance("quarantine", intent, intended, func(r *diff.TokenRecord) { r.State, r.Reason = diff.TokenQuarantined, reason })
}

func (m *memory) Confirm(_ context.Context, intent string, id edge.TokenID, secret edge.Secret) error {
	return m.advance("confirm", intent, unproved, func(r *diff.TokenRecord) {
		r.State, r.ID = diff.TokenConfirmed, id
		m.sealed[intent] = secret
	})
}

func (m *memory) Sealed(_ context.Context, intent string) (edge.Secret, error) {
	secret, ok := m.sealed[intent]
	return secret, m.step("open the seal", func() error {
		if !ok {
			return errState
		}
		return nil
	})
}

func (m *memory) Delivered(_ context.Context, intent string) error {
	return m.advance("delivered", intent, confirmed, func(r *diff.TokenRecord) {
		r.Delivered = true
		delete(m.sealed, intent)
	})
}

func (m *memory) Amend(_ context.Context, intent string, spec edge.TokenSpec, hash string) error {
	return m.advance("amend", intent, confirmed, func(r *diff.TokenRecord) { r.Spec, r.Hash = spec, hash })
}

func (m *memory) Prunable(_ context.Context, intents []string, prune bool) error {
	return m.step("prunable", func() error {
		for _, intent := range intents {
			m.record(intent).Prune = prune
		}
		return nil
	})
}

func (m *memory) Gone(_ context.Context, intent string) error {
	return m.advance("gone", intent, confirmed, func(gone *diff.TokenRecord) {
		for i := range m.live.Records {
			r := &m.live.Records[i]
			if r.Intent == intent {
				break
			}
			if r.Delivered && r.Sink != nil && gone.Sink != nil && *r.Sink == *gone.Sink {
				r.Sink = nil
			}
		}
		m.drop(intent)
		delete(m.sealed, intent)
	})
}

func (m *memory) drop(intent string) {
	m.live.Records = slices.DeleteFunc(m.live.Records, func(r diff.TokenRecord) bool { return r.Intent == intent })
}

// sinks hold what was delivered.
type sinks struct {
	*journal
	sunk map[desired.Sink]string
	down int // how many deliveries fail, from now on
}

func (s *sinks) Check(sink desired.Sink) error {
	if sink.Name != "ci" {
		return fmt.Errorf("there is no sink %q", sink.Name)
	}
	return nil
}

func (s *sinks) Deliver(_ context.Context, sink desired.Sink, secret edge.Secret) error {
	return s.step("deliver", func() error {
		if s.down--; s.down >= 0 {
			return errSinkDown
		}
		s.sunk[sink] = secret.Reveal()
		return nil
	})
}

// platform is the platform in memory, as a worker sees it.
type platform struct {
	*journal
	truth   *mem.Platform
	created []edge.TokenID          // by a worker, in order
	key     map[edge.TokenID]string // of these: the declaration
	ended   map[edge.TokenID]bool   // of these: by whomever

	admit func(context.Context) error // as the budget does; nil admits at once
	keeps bool                        // what an update says
	mute  bool                        // it does not say when it sends

	fate string // of the next write of a kind: "refuse create", "before create", "after create", "late create"
	late func() // what takes effect before time goes on
}

func (p *platform) Offers(call edge.Call, level edge.Level) bool { return p.truth.Offers(call, level) }

// write is a step that changes the platform: it may be refused, or its answer is
// lost before it takes effect, after, or before it does so late.
func (p *platform) write(name string, do func() error) error {
	return p.step(name, func() error {
		fate, ours := strings.CutSuffix(p.fate, " "+name)
		if !ours {
			return do()
		}
		p.fate = ""
		switch fate {
		case "refuse":
			return fmt.Errorf("%s: %w", name, edge.ErrThrottled)
		case "late":
			p.late = func() { _ = do() }
			return errLost
		case "after":
			return errors.Join(do(), errLost)
		}
		return errLost
	})
}

func (p *platform) CreateToken(ctx context.Context, spec edge.TokenSpec) (created edge.CreatedToken, err error) {
	if p.admit != nil {
		if err := p.admit(ctx); err != nil {
			return edge.CreatedToken{}, err
		}
	}
	if !p.mute {
		if err := edge.Sending(ctx); err != nil {
			return edge.CreatedToken{}, fmt.Errorf("POST %s: %w", edge.TokensPath(), err)
		}
	}
	said := context.Background() // the truth would say it again
	err = p.write("create", func() error {
		if created, err = p.truth.CreateToken(said, spec); err == nil {
			p.created = append(p.created, created.ID)
			p.key[created.ID], _, _ = strings.Cut(spec.Name, " [")
		}
		return err
	})
	if err != nil {
		return edge.CreatedToken{}, err
	}
	return created, nil
}

func (p *platform) UserTokens(ctx context.Context) (tokens []edge.Token, err error) {
	err = p.step("list", func() error { tokens, err = p.truth.UserTokens(ctx); return err })
	return tokens, err
}

func (p *platform) UserToken(ctx context.Context, id edge.TokenID) (token edge.Token, err error) {
	err = p.step("get", func() error { token, err = p.truth.UserToken(ctx, id); return err })
	return token, err
}

func (p *platform) PermissionGroups(ctx context.Context) (groups []edge.PermissionGroup, err error) {
	err = p.step("groups", func() error { groups, err = p.truth.PermissionGroups(ctx); return err })
	return groups, err
}

func (p *platform) VerifyToken(ctx context.Context) (token edge.Token, err error) {
	err = p.step("verify", func() error { token, err = p.truth.VerifyToken(ctx); return err })
	return token, err
}

func (p *platform) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (token edge.Token, err error) {
	err = p.write("put", func() error {
		if !p.keeps {
			token, err = p.truth.UserToken(ctx, id)
			return err
		}
		token, err = p.truth.UpdateToken(ctx, id, body)
		return err
	})
	return token, err
}

func (p *platform) DeleteToken(ctx context.Context, id edge.TokenID) error {
	return p.write("delete", func() error { p.ended[id] = true; return p.truth.DeleteToken(ctx, id) })
}

func (p *platform) RollToken(ctx context.Context, id edge.TokenID) (secret edge.Secret, err error) {
	err = p.write("roll", func() error { secret, err = p.truth.RollToken(ctx, id); return err })
	if err != nil {
		return edge.Secret{}, err
	}
	return secret, nil
}

// token returns the truth about a token.
func (p *platform) token(id edge.TokenID) (mem.SeedToken, bool) {
	for _, token := range p.truth.Tokens() {
		if token.ID == string(id) {
			return token, true
		}
	}
	return mem.SeedToken{}, false
}

// living are the tokens that a worker made and that are still there, in order.
func (p *platform) living() (tokens []mem.SeedToken) {
	for _, id := range p.created {
		if token, there := p.token(id); there {
			tokens = append(tokens, token)
		}
	}
	return tokens
}
