package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/integration/must"
)

// FuzzReadSaved: no file is taken for a saved plan whose operations are not those of its
// digest, and one that is taken can be written, read and compared again.
func FuzzReadSaved(f *testing.F) {
	saved, err := Save(difftest.PlanOf(difftest.ChangesTo(2, 1)...), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), time.Hour)
	must.Do(f, err)
	data, err := json.Marshal(saved)
	must.Do(f, err)
	f.Add(data)
	f.Add(bytes.Replace(data, []byte(`"plan":{`), []byte(`"plan":{"changes":[null,{"zone":1,"fields":null}],`), 1))
	f.Add([]byte(`{"kind":"seawall-plan","version":1,"operations":null,"plan":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSaved(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrNotSaved) {
				t.Errorf("%q: %v", data, err)
			}
			return
		}
		if s.Digest != digestOf(s.Operations) {
			t.Errorf("%q: the operations are not those of the digest", data)
		}
		_ = s.Differences(diff.Plan{})
		_ = s.Differences(difftest.PlanOf(difftest.ChangesTo(1, 0)...))
		again, err := json.Marshal(s)
		if err != nil {
			return // what the plan quotes is no JSON: nothing is applied from it
		}
		if _, err := ReadSaved(bytes.NewReader(again)); err != nil {
			t.Errorf("%q is not read back: %v", again, err)
		}
	})
}
