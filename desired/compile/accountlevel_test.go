package compile_test

import (
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/edge"
)

// What an account deploys itself is one more zone of it, whose deployments have keys and
// refs of their own.
func TestAccountLevel(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	state, problems := compiletest.Tree(fstest.MapFS{"z/a.cue": {Data: []byte(`package z

account: prod: {
	id: "` + id + `"
	ruleset: core: name: "Core Ruleset"
	zone: "shop.example": waf: core: paranoia: 2
	waf: {
		us: {ruleset: "core", ref: "` + id + `", paranoia: 1}
		eu: {ruleset: "core", deploy: true, prune: true, expression: "cf.zone.plan eq \"ENT\""}
	}
}
account: Staging: {
	ruleset: core: name: "Core Ruleset"
	waf: {}
}
`)}}, ".", "c1")
	if len(problems) > 0 {
		t.Fatalf("%+v", problems)
	}
	prod, staging := state.Accounts[1], state.Accounts[0]
	z := prod.Zones[0]
	if z.Scope.Level != edge.LevelAccount || z.Key != "account:prod" || z.Scope != edge.AccountScope(id) || z.Origin.Line != 7 || len(z.Deployments) != 2 || prod.Zones[1].Scope.Level == edge.LevelAccount {
		t.Fatalf("zones %+v", prod.Zones)
	}
	eu, us := z.Deployments[0], z.Deployments[1]
	if eu.Name() != "eu" || eu.Ref != "eu" || eu.Ruleset != "core" || !eu.Deploy || !eu.Prune || eu.Expression.Value != `cf.zone.plan eq "ENT"` || eu.Origin.Line != 9 {
		t.Errorf("eu is %+v", eu)
	}
	if us.Name() != "us" || us.Ref != id || us.Paranoia.Value != 1 || us.Expression != nil || !us.Enabled.Value {
		t.Errorf("us is %+v", us)
	}
	if z := staging.Zones[0]; z.Scope.Level != edge.LevelAccount || z.Scope.ID != "" || z.ByName || len(z.Deployments) != 0 || !desired.Sought(desired.AccountScope(staging).ID) {
		t.Errorf("it is %+v", z)
	}
	other := us
	other.Ref = "x"
	with := func(d desired.Deployment) string {
		z.Deployments = []desired.Deployment{d}
		return z.Fingerprint(prod)
	}
	if with(us) == with(other) || with(us) == with(eu) {
		t.Error("two declarations have one fingerprint")
	}
}
