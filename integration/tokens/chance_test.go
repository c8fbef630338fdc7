package tokens

import (
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestTokensByChance: whatever is committed, clicked, lost and killed in
// whatever order, the laws hold after each run, and in the end everything is as
// declared.
func TestTokensByChance(t *testing.T) {
	t.Parallel()
	for name, extended := range map[string]bool{mem.Documented: false, mem.Extended: true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			died := 0
			rapid.Check(t, func(t *rapid.T) {
				folder, err := os.MkdirTemp("", "seawall-chance-") //nolint:usetesting // one for each check of rapid, removed at its end
				must.Do(t, err)
				defer os.RemoveAll(folder)
				w := newChanceWorld(t, extended, folder)
				for range rapid.IntRange(1, 9).Draw(t, "steps") {
					w.step()
				}
				w.settles()
				if w.crashed {
					died++
				}
			})
			if died == 0 {
				t.Error("no process has died")
			}
		})
	}
}

// step is one thing that happens.
func (w *chanceWorld) step() {
	steps := []func(){w.commit, w.commit, w.commit, w.pass, w.mishap, w.settles}
	if w.extended {
		steps = append(steps, w.click, w.click)
	}
	steps[rapid.IntRange(0, len(steps)-1).Draw(w.T, "step")]()
}

// commit declares a token, anew or in another form, or leaves it out. Mostly a run
// follows.
func (w *chanceWorld) commit() {
	key := rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(w.T, "key")
	if rapid.IntRange(0, 4).Draw(w.T, "leave out") == 0 {
		delete(w.declared, key)
		w.tell("%s is no longer declared", key)
	} else {
		w.declares(key)
	}
	if rapid.IntRange(0, 3).Draw(w.T, "run") > 0 {
		w.mishap()
	}
}

func (w *chanceWorld) declares(key string) {
	token := plainToken(key)
	token.Sink.Key = key + rapid.SampledFrom([]string{"", "", "/elsewhere"}).Draw(w.T, "sink")
	token.Policies[0].PermissionGroups[0].ID = rapid.SampledFrom([]string{mem.RulesGroup, mem.ZoneLogsGroup}).Draw(w.T, "group")
	token.Prune = rapid.Bool().Draw(w.T, "prune")
	if rapid.IntRange(0, 2).Draw(w.T, "rotate") == 0 {
		token.Rotate = &desired.Rotate{Every: every, Overlap: overlap}
	}
	w.declared[key] = token
	w.mayDelete[key] = w.mayDelete[key] || token.Prune
	w.tell("declared %s: group %s, sink %s, prune %v, rotate %v", key, token.Policies[0].PermissionGroups[0].ID, token.Sink.Key, token.Prune, token.Rotate != nil)
}

func (w *chanceWorld) pass() {
	d := rapid.SampledFrom([]time.Duration{time.Minute, 6 * time.Minute, day, 29 * day, 31 * day, 100 * day}).Draw(w.T, "time")
	w.passes(d)
	w.tell("%s pass", d)
}

// mishap is a run in which something may go wrong.
func (w *chanceWorld) mishap() {
	at := 0
	switch rapid.SampledFrom([]string{"nothing", "death", "answer", "sink", "all"}).Draw(w.T, "mishap") {
	case "death":
		at = w.moment()
	case "answer":
		w.drawFate()
	case "sink":
		w.down = rapid.IntRange(1, 3).Draw(w.T, "deliveries")
	case "all":
		at, w.down = w.moment(), rapid.IntRange(0, 1).Draw(w.T, "deliveries")
		w.drawFate()
	}
	w.tell("a run: dies at %d, %q, %d deliveries fail", at, w.fate, w.down)
	w.run(at)
	w.holds()
}

func (w *chanceWorld) moment() int { return rapid.IntRange(1, 20).Draw(w.T, "dies at") }

func (w *chanceWorld) drawFate() {
	fates := []string{
		"refuse create", "before create", "after create", "late create", "after create", "refuse roll", "before roll", "after roll",
		"before update", "after update", "late update", "before delete", "after delete", "late delete",
	}
	w.fate = rapid.SampledFrom(fates).Draw(w.T, "fate")
}

// click is somebody in the dashboard.
func (w *chanceWorld) click() {
	made := w.made()
	if len(made) == 0 {
		return
	}
	id := edge.TokenID(made[rapid.IntRange(0, len(made)-1).Draw(w.T, "token")].ID)
	live, err := w.platform.UserToken(w.Context(), id)
	w.must(err)
	what := rapid.SampledFrom([]string{"widens", "renames", "disables", "ends"}).Draw(w.T, "click")
	spec := live.TokenSpec
	switch what {
	case "widens":
		spec.Policies = append(slices.Clone(spec.Policies), edge.Policy{
			Effect: edge.Allow, Resources: map[string]edge.Breadth{edge.ResourceAllAccounts: {}},
			PermissionGroups: []edge.PermissionGroup{{ID: mem.AccountLogsGroup}},
		})
	case "renames":
		spec.Name += " by hand"
	case "disables":
		live.Status = "disabled"
	case "ends":
		w.revoked[id] = true
		w.must(w.platform.DeleteToken(w.Context(), id))
	}
	w.tell("somebody %s %s of %s", what, id, w.key[id])
	if what != "ends" {
		for i := range spec.Policies {
			spec.Policies[i].ID = "" // as for a new token
		}
		_, err = w.platform.UpdateToken(w.Context(), id, live.Update(spec))
		w.must(err)
	}
}
