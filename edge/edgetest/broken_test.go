package edgetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/edgetest"
	"github.com/seawall-dev/seawall/edge/mem"
)

type mistake struct {
	platform func(*mem.Platform) both
	foundBy  string
}

// broken are platforms with one mistake each, and the case that must find it.
var broken = map[string]mistake{
	"a missing entry point reads as an empty one": {foundBy: "a zone without an entry point", platform: entryPoints(
		func(r edge.Ruleset, err error) (edge.Ruleset, error) { return r, nil })},
	"every failure is a missing entry point": {foundBy: "what does not exist is not found", platform: entryPoints(
		func(r edge.Ruleset, err error) (edge.Ruleset, error) {
			if err != nil {
				err = edge.ErrEntryPointNotFound
			}
			return r, err
		})},
	"absent becomes false": {foundBy: "absent is not false", platform: overrides(func(o *edge.Overrides) {
		for i := range o.Rules {
			if o.Rules[i].Enabled == nil {
				o.Rules[i].Enabled = new(false)
			}
		}
	})},
	"unknown members get lost": {foundBy: "unknown members survive", platform: overrides(func(o *edge.Overrides) {
		for i := range o.Categories {
			o.Categories[i].Extra = nil
		}
	})},
	"categories are sorted": {foundBy: "the order of categories", platform: overrides(func(o *edge.Overrides) {
		for i := range o.Categories {
			for j := range o.Categories[:i] {
				if o.Categories[j].Category > o.Categories[i].Category {
					o.Categories[i], o.Categories[j] = o.Categories[j], o.Categories[i]
				}
			}
		}
	})},
	"versions stand still": {foundBy: "every update adds one", platform: entryPoints(
		func(r edge.Ruleset, err error) (edge.Ruleset, error) { r.Version = "1"; return r, err })},
	"updates land in the entry point of the zone, whoever's rule it is": {
		foundBy:  "a rule of another zone",
		platform: func(p *mem.Platform) both { return careless{p} },
	},
	"refused updates are applied": {
		foundBy:  "a body that is not a rule",
		platform: func(p *mem.Platform) both { return lenient{p} },
	},
	"a forbidden zone is a rejected credential": {
		foundBy: "what is forbidden for a zone is no matter of the credential",
		platform: func(p *mem.Platform) both {
			return &guarded{Platform: p, refusal: &edge.Error{Status: 401, Details: forbidden.Details}}
		},
	},
	"a name is created once": {foundBy: "names are not unique", platform: creations(
		func(p *mem.Platform, spec edge.TokenSpec) (edge.CreatedToken, error) {
			for _, t := range p.Tokens() {
				if t.Name == spec.Name {
					return edge.CreatedToken{Token: edge.Token{ID: edge.TokenID(t.ID), TokenSpec: spec}, Value: edge.NewSecret(t.Value)}, nil
				}
			}
			return p.CreateToken(context.Background(), spec)
		})},
	"a creation is sent twice": {foundBy: "a creation answers", platform: creations(
		func(p *mem.Platform, spec edge.TokenSpec) (edge.CreatedToken, error) {
			_, _ = p.CreateToken(context.Background(), spec)
			return p.CreateToken(context.Background(), spec)
		})},
	"an unknown outcome reads as none": {foundBy: "a creation answers", platform: creations(
		func(p *mem.Platform, spec edge.TokenSpec) (edge.CreatedToken, error) {
			_, _ = p.CreateToken(context.Background(), spec)
			return edge.CreatedToken{}, edge.ErrUnavailable
		})},
	"a creation tells afterwards": {foundBy: "a creation tells before it is sent", platform: func(p *mem.Platform) both { return chatty{p, true} }},
	"a creation tells nobody":     {foundBy: "a creation that is held back is not sent", platform: func(p *mem.Platform) both { return chatty{p, false} }},
	"ids of policies are dropped instead of refused": {foundBy: "a token that is not one", platform: creations(
		func(p *mem.Platform, spec edge.TokenSpec) (edge.CreatedToken, error) {
			for i := range spec.Policies {
				spec.Policies[i].ID = ""
			}
			return p.CreateToken(context.Background(), spec)
		})},
	"the nested form becomes the whole account": {foundBy: "a creation takes every form", platform: creations(
		func(p *mem.Platform, spec edge.TokenSpec) (edge.CreatedToken, error) {
			for _, policy := range spec.Policies {
				for key := range policy.Resources {
					if policy.Resources[key].AllZones {
						policy.Resources[key] = edge.Breadth{}
					}
				}
			}
			return p.CreateToken(context.Background(), spec)
		})},
}

const brokenEnv = "EDGETEST_BROKEN"

// The suite can fail: each mistake is found by the case that is there for it.
// A failing suite needs a process of its own.
func TestFindsMistakes(t *testing.T) {
	maps.Copy(broken, brokenTokens)
	maps.Copy(broken, brokenDeployments)
	if name := os.Getenv(brokenEnv); name != "" {
		edgetest.Run(t, func(t testing.TB) edgetest.Fixture {
			return fixture(broken[name].platform(newMem(t)), false)
		})
		return
	}
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := "TestFindsMistakes/" + strings.ReplaceAll(b.foundBy, " ", "_")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+found)
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			want := "--- FAIL: " + found
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("case %q did not find it: %v\n%s", b.foundBy, err, out)
			}
		})
	}
}

// entryPoints changes what reading an entry point gives.
func entryPoints(change func(edge.Ruleset, error) (edge.Ruleset, error)) func(*mem.Platform) both {
	return func(p *mem.Platform) both { return changed{p, change} }
}

// overrides changes the overrides of entry points that are read.
func overrides(change func(*edge.Overrides)) func(*mem.Platform) both {
	return entryPoints(func(r edge.Ruleset, err error) (edge.Ruleset, error) {
		for _, rule := range r.Rules {
			if p := rule.ActionParameters; p != nil && p.Overrides != nil {
				change(p.Overrides)
			}
		}
		return r, err
	})
}

type changed struct {
	*mem.Platform
	change func(edge.Ruleset, error) (edge.Ruleset, error)
}

func (c changed) EntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	return c.change(c.Platform.EntryPoint(ctx, zone, edge.PhaseFirewallManaged))
}

// careless looks at the zone of an update only.
type careless struct{ *mem.Platform }

func (c careless) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	entry, err := c.EntryPoint(ctx, w.Scope, edge.PhaseFirewallManaged)
	if err == nil && w.Call == edge.CallUpdateRule {
		w.EntryPoint, w.Rule = entry.ID, entry.Rules[0].ID
	}
	return c.Platform.Send(ctx, w)
}

// lenient repairs what it should refuse.
type lenient struct{ *mem.Platform }

func (l lenient) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	answer, err := l.Platform.Send(ctx, w)
	if err == nil || w.Call != edge.CallUpdateRule || w.Rules[0].ActionParameters == nil {
		return answer, err
	}
	body, p := w.Rules[0], *w.Rules[0].ActionParameters
	p.Overrides = &edge.Overrides{Extra: map[string]json.RawMessage{"repaired": json.RawMessage(`true`)}}
	body.ActionParameters = &p
	return l.Platform.Send(ctx, edge.UpdateRule(w.Scope, w.EntryPoint, w.Rule, body))
}

// creations changes what creating a token does.
func creations(create func(*mem.Platform, edge.TokenSpec) (edge.CreatedToken, error)) func(*mem.Platform) both {
	return func(p *mem.Platform) both { return creator{p, create} }
}

type creator struct {
	*mem.Platform
	create func(*mem.Platform, edge.TokenSpec) (edge.CreatedToken, error)
}

func (c creator) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	if err := ctx.Err(); err != nil {
		return edge.CreatedToken{}, err
	}
	return c.create(c.Platform, spec)
}

// chatty tells of a creation when it is over, or never.
type chatty struct {
	*mem.Platform
	tells bool
}

func (c chatty) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	created, err := c.Platform.CreateToken(context.Background(), spec)
	if c.tells {
		err = errors.Join(err, edge.Sending(ctx))
	}
	return created, err
}
