package evaluate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile/compiletest"
	"github.com/seawall-dev/seawall/integration/must"
)

// A question about one zone of a commit whose folders are kept takes that zone's folder,
// however many there are; what is not kept is evaluated, and mistakes of others are found.
func TestOneZoneOfACommit(t *testing.T) {
	t.Parallel()
	const key = "zone000001.example"
	wanted := func(_ desired.Account, z desired.Zone) bool { return z.Key == key }
	for _, folders := range []int{3, 12} {
		c := newCommits(t)
		r := c.start()
		files := map[string]string{}
		for name, file := range compiletest.Fleet(4*folders, folders) {
			files[name] = string(file.Data)
		}
		commit := c.commit(r, files)
		whole, problems, err := r.Compile(t.Context(), commit)
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		r = c.start()
		c.log.Reset()
		state, problems, err := r.CompileOnly(t.Context(), commit, wanted)
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		var got struct {
			evaluated
			Outlined int
		}
		must.Do(t, json.Unmarshal(c.log.Bytes(), &got))
		if got.Disk != folders+1 || got.Evaluated > 0 || got.Outlined != folders {
			t.Errorf("of %d folders: %+v, want one whole", folders+1, got)
		}
		if diff := cmp.Diff(whole.Only(wanted), state.Only(wanted)); diff != "" {
			t.Errorf("the zone (-of all +alone):\n%s", diff)
		}
		if state.Zones() != whole.Zones() || state.Deployments() != 1 {
			t.Errorf("%d zones with %d deployments, want %d with one", state.Zones(), state.Deployments(), whole.Zones())
		}

		twice := files["team0001/zones.cue"]
		commit = c.commit(r, map[string]string{"team9999/zones.cue": twice})
		_, want, err := c.start().Compile(t.Context(), commit)
		must.Do(t, err)
		_, found, err := r.CompileOnly(t.Context(), commit, wanted)
		must.Do(t, err)
		if diff := cmp.Diff(want, found); diff != "" || len(found) == 0 {
			t.Errorf("mistakes of others (-of all +of one zone):\n%s", diff)
		}
	}
}
