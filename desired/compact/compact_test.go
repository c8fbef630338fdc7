package compact_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired/compact"
	"github.com/seawall-dev/seawall/integration/must"
)

type sample struct {
	Name  string
	On    bool
	Count int
	Of    *part
	Parts []part
	By    map[string]part
	Any   any
	Data  []byte
}

type part struct {
	Name string
	Line int
	All  []string
}

func some(t *rapid.T) sample {
	text := rapid.SampledFrom([]string{"", "a", "zone.example", "\xff", "ä"})
	texts := rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOfN(text, 0, 3))
	of := rapid.Custom(func(t *rapid.T) part {
		return part{text.Draw(t, "name"), rapid.Int().Draw(t, "line"), texts.Draw(t, "all")}
	})
	return sample{
		Name: text.Draw(t, "name"), On: rapid.Bool().Draw(t, "on"), Count: rapid.Int().Draw(t, "count"),
		Of:    rapid.Ptr(of, true).Draw(t, "of"),
		Parts: rapid.OneOf(rapid.Just([]part(nil)), rapid.SliceOfN(of, 0, 4)).Draw(t, "parts"),
		By:    rapid.OneOf(rapid.Just(map[string]part(nil)), rapid.MapOfN(text, of, 0, 4)).Draw(t, "by"),
		Data:  []byte(text.Draw(t, "data")),
		Any:   rapid.SampledFrom([]any{nil, "text", true, 1.5, []any{"a"}}).Draw(t, "any"),
	}
}

// What is decoded is what was encoded, and equal values have equal bytes.
func TestDecodeIsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := some(t)
		if len(v.Data) == 0 {
			v.Data = nil
		}
		data := compact.Encode(v)
		var back sample
		must.Do(t, compact.Decode(data, &back))
		if diff := cmp.Diff(v, back); diff != "" {
			t.Fatalf("(-encoded +decoded):\n%s", diff)
		}
		if again := compact.Encode(back); string(again) != string(data) {
			t.Fatalf("encoded again: %q, first %q", again, data)
		}
	})
}

// Data that was cut, has more at its end, or was changed is refused or means something; it
// neither panics nor takes memory.
func TestDecodeRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := compact.Encode(some(t))
		var into sample
		if compact.Decode(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")], &into) == nil {
			t.Fatal("a beginning was decoded")
		}
		if compact.Decode(append(data[:len(data):len(data)], 0), &sample{}) == nil {
			t.Fatal("data with an end was decoded")
		}
		data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		_ = compact.Decode(data, &sample{}) // whatever it means
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(compact.Encode(sample{Name: "a", Parts: []part{{Name: "a"}}, By: map[string]part{"a": {}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v sample
		_ = compact.Decode(data, &v)
		if len(v.Parts) > len(data) || len(v.By) > len(data) {
			t.Errorf("%d parts and %d texts of %d bytes", len(v.Parts), len(v.By), len(data))
		}
	})
}

// A list that says to be long takes no more memory than its data.
func TestLongListsCostTheirData(t *testing.T) {
	data := []byte{0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f} // and then 34 GiB of parts
	if compact.Decode(data, &sample{}) == nil {
		t.Error("it was decoded")
	}
}
