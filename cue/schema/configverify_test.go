package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
)

func TestVerify(t *testing.T) {
	for _, test := range []struct {
		cue  string
		want *schema.Verify
	}{
		{``, nil},
		{`source: verify: openpgp: "/etc/keys.asc"`, &schema.Verify{OpenPGP: "/etc/keys.asc", Require: "head"}},
		{`source: verify: {ssh: "/etc/signers", require: "tag"}`, &schema.Verify{SSH: "/etc/signers", Require: "tag"}},
		{
			`source: verify: {openpgp: "/etc/keys.asc", ssh: "/etc/signers", require: "both"}`,
			&schema.Verify{OpenPGP: "/etc/keys.asc", SSH: "/etc/signers", Require: "both"},
		},
	} {
		config := loaded(t, least+test.cue)
		if diff := cmp.Diff(test.want, config.Source.Verify); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.cue, diff)
		}
	}
}
