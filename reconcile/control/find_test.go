package control

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// onRecord are the parts of a state, and how many were read.
type onRecord struct {
	parts []reconcile.StatePart
	read  int
}

func record(t *testing.T, state desired.State) *onRecord {
	t.Helper()
	parts, err := new(encoder).encode(state)
	must.Do(t, err)
	return &onRecord{parts: parts}
}

func (r *onRecord) find(key string) (desired.State, error) {
	r.read = 0
	return Find(reconcile.StateParts{Count: len(r.parts), Read: func(n int) ([]byte, error) {
		r.read++
		return r.parts[n].Data, nil
	}}, key)
}

// A question about one zone reads the head, the parts that halving takes, and one of them once more.
func TestOneZoneIsFoundInFewParts(t *testing.T) {
	for _, n := range []int{100, 1000, 10_000} {
		_, state := oneOtherZone(n)
		state.Tokens = []desired.Token{{Key: "ci"}}
		r := record(t, state)
		most := 2 + bits.Len(uint(len(r.parts)))
		for _, i := range []int{0, 1, n / 3, n / 2, n - 1} {
			key := fmt.Sprintf("z%06d.example", i)
			got, err := r.find(key)
			must.Do(t, err)
			if diff := cmp.Diff(state.Only(func(_ desired.Account, z desired.Zone) bool { return z.Key == key }), got); diff != "" {
				t.Errorf("%s of %d (-declared +found):\n%s", key, n, diff)
			}
			if r.read > most {
				t.Errorf("%s of %d: %d parts of %d were read, want at most %d", key, n, r.read, len(r.parts), most)
			}
		}
		for _, key := range []string{"", "a", "z000050.example.com", "zz"} {
			got, err := r.find(key)
			must.Do(t, err)
			if got.Zones() != 0 || len(got.Tokens) != 1 {
				t.Errorf("%q, which is not declared: %d zones", key, got.Zones())
			}
		}
	}
}

// One key in several accounts is found in each of them.
func TestOneKeyInSeveralAccountsIsFound(t *testing.T) {
	_, one := oneOtherZone(500)
	state := desired.State{Commit: "c1"}
	for _, key := range []string{"a", "b", "c", "d"} {
		state.Accounts = append(state.Accounts, desired.Account{Key: key, Zones: one.Accounts[0].Zones})
	}
	state.Accounts[2].Zones = slices.Delete(slices.Clone(one.Accounts[0].Zones), 100, 200)
	r := record(t, state)
	for i := 0; i < 500; i += 3 { // a part has many more, so some are the first and the last of one
		got, err := r.find(fmt.Sprintf("z%06d.example", i))
		must.Do(t, err)
		want := 4
		if i >= 100 && i < 200 {
			want = 3
		}
		if got.Zones() != want {
			t.Fatalf("zone %d is found in %d accounts, want %d", i, got.Zones(), want)
		}
	}
}

// Whatever this program would not have put on record so is left to those who read all of it.
func TestPartsThatAreOtherwiseAreNotSearched(t *testing.T) {
	_, state := oneOtherZone(1000)
	key := "z000500.example"
	zoneAt := func(r *onRecord) int {
		return slices.IndexFunc(r.parts, func(p reconcile.StatePart) bool {
			text, _ := new(decompressor).text(p.Data)
			return strings.Contains(string(text), key)
		})
	}
	rewrite := func(t *testing.T, r *onRecord, n int, old, now string) {
		t.Helper()
		text, err := new(decompressor).text(r.parts[n].Data)
		must.Do(t, err)
		changed := strings.ReplaceAll(string(text), old, now)
		if changed == string(text) {
			t.Fatalf("part %d has no %s", n, old)
		}
		var packed bytes.Buffer
		to := gzip.NewWriter(&packed)
		_, err = to.Write([]byte(changed))
		must.Do(t, errors.Join(err, to.Close()))
		r.parts[n].Data = packed.Bytes()
	}
	for name, harm := range map[string]func(*testing.T, *onRecord){
		"nothing":                  func(_ *testing.T, r *onRecord) { r.parts = nil },
		"a head of an earlier one": func(t *testing.T, r *onRecord) { rewrite(t, r, 0, `,"ZoneCount":1000`, "") },
		"a later one's member":     func(t *testing.T, r *onRecord) { rewrite(t, r, 0, `"Commit":`, `"Later":1,"Commit":`) },
		"a later one's zone": func(t *testing.T, r *onRecord) {
			rewrite(t, r, zoneAt(r), `"Key":"`+key+`"`, `"Later":1,"Key":"`+key+`"`)
		},
		"another order of parts":     func(_ *testing.T, r *onRecord) { slices.Reverse(r.parts[1:]) },
		"another order of zones":     func(t *testing.T, r *onRecord) { rewrite(t, r, zoneAt(r), key, "a") },
		"an account that is not":     func(t *testing.T, r *onRecord) { rewrite(t, r, zoneAt(r), `{"Account":0`, `{"Account":-1`) },
		"a part that is cut short":   func(_ *testing.T, r *onRecord) { p := &r.parts[zoneAt(r)]; p.Data = p.Data[:len(p.Data)-9] },
		"a part that cannot be read": func(_ *testing.T, r *onRecord) { r.parts[zoneAt(r)].Data = []byte("x") },
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, state)
			harm(t, r)
			if got, err := r.find(key); err == nil || !cmp.Equal(got, desired.State{}) && !errors.Is(err, errNotAsEncoded) {
				t.Errorf("%d zones were found, %v", got.Zones(), err)
			}
		})
	}
}
