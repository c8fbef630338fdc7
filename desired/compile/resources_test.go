package compile_test

import (
	"testing"
	"testing/fstest"

	"github.com/seawall-dev/seawall/desired/compile/compiletest"
)

// Keys of resources may be written as the platform's own documents write them.
func TestBothSpellingsOfResources(t *testing.T) {
	const text = `package edge

token: "ci": policies: [{
	effect: "allow"
	permission_groups: [{id: "g"}]
	resources: {
		"com.cloudflare.api.account.zone.*": "*"
		"com.cloudflare.api.account.0123456789abcdef0123456789abcdef": "com.cloudflare.api.account.zone.*": "*"
		"com.cloudflare.edge.r2.bucket.0123456789abcdef0123456789abcdef_default_logs-eu": "*"
		"com.vendor.api.user.u1": "*"
	}
}]
`
	state, problems := compiletest.Tree(fstest.MapFS{"a.cue": &fstest.MapFile{Data: []byte(text)}}, ".", "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := []struct{ key, kind string }{
		{"com.vendor.api.account.0123456789abcdef0123456789abcdef", "zone"},
		{"com.vendor.api.account.zone.*", "zone"},
		{"com.vendor.api.user.u1", "user"},
		{"com.vendor.edge.r2.bucket.0123456789abcdef0123456789abcdef_default_logs-eu", "bucket"},
	}
	got := state.Tokens[0].Policies[0].Resources
	for i, w := range want {
		if i >= len(got) || got[i].Key != w.key || got[i].Type() != w.kind || got[i].AllZones != (i == 0) {
			t.Errorf("got %+v, want %+v", got, want)
			break
		}
	}
}
