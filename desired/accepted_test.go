package desired

import "testing"

func TestOwned(t *testing.T) {
	for owner, want := range map[string]bool{
		"team-sre": true, "todo-app": true, "Todorov": true, "TODO": false, "todo": false, " TODO ": false, "TODO: ask payments": false,
		"TODO(sre)": false, "TODO - who": false, "tbd": false, "?": false, "-": false, "": false,
	} {
		if got := (Accepted{Owner: owner}).Owned(); got != want {
			t.Errorf("%q: owned %v", owner, got)
		}
	}
}

// An acceptance is told by a fingerprint: with another one, a zone declares something else.
func TestFingerprintMindsAcceptances(t *testing.T) {
	of := func(d Deployment) string { return Zone{Deployments: []Deployment{d}}.Fingerprint(Account{}) }
	a := Accepted{Rule: "partners", Owner: "team-sre", Until: "2027-03-31", Expression: "ip.src eq 192.0.2.7", All: true}
	got := of(Deployment{Ruleset: "core", Bypass: &Declared[Bypass]{Value: RemoveBypass}, Accepted: []Accepted{a}})
	if want := "b9e1012b137c055e8801a2f5ccc1daac"; got != want { // fingerprints are on disk
		t.Errorf("the fingerprint is %s, and was %s", got, want)
	}
	other := a
	other.All, other.Origin.File = false, "moved.cue"
	if of(Deployment{Accepted: []Accepted{a}}) == of(Deployment{Accepted: []Accepted{other}}) || of(Deployment{}) == of(Deployment{Accepted: []Accepted{a}}) {
		t.Error("two that accept something else have one fingerprint")
	}
}
