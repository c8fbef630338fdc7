package desired

import (
	"encoding/json"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// A zone is read back from its JSON form with its level, whatever is known of its id.
func TestZoneJSONKeepsTheLevel(t *testing.T) {
	account, sought := Account{Key: "prod", ID: "0123456789abcdef0123456789abcdef"}, Account{Key: "prod"}
	for _, scope := range []edge.Scope{
		edge.ZoneScope("0123456789abcdef0123456789abcdef"), edge.ZoneScope(""), edge.ZoneScope(SoughtZone("prod", "a.example")),
		AccountScope(account), AccountScope(sought), edge.AccountScope(""),
	} {
		text, err := json.Marshal(Zone{Key: "k", Scope: scope})
		var back Zone
		if err != nil || json.Unmarshal(text, &back) != nil || back.Scope != scope || back.Key != "k" {
			t.Errorf("%#v is read as %#v from %s, %v", scope, back.Scope, text, err)
		}
	}
	text, err := json.Marshal(Zone{Scope: AccountScope(account)})
	const want = `{"AccountLevel":true,"Key":"","Name":"","ID":"account:0123456789abcdef0123456789abcdef","ByName":false,"Origin":{},"Labels":null,"Deployments":null}`
	if err != nil || string(text) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, text, want)
	}
}
