package control

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

// errNotAsEncoded says that parts are not as this program makes them: they are of an earlier or a
// later version, or damaged.
var errNotAsEncoded = errors.New("the parts are not as this program makes them")

// Find is what a state on record declares, but of its zones those with a key alone: a question about
// one zone decodes one zone of each account. It halves the parts until it knows in which one the key must be, so what
// it reads grows with the logarithm of the fleet. With an error, only [DecodeState] of all may tell.
func Find(parts reconcile.StateParts, key string) (desired.State, error) {
	f := finder{StateParts: parts, begins: map[int]partKey{}}
	state, err := f.head()
	if err != nil {
		return desired.State{}, err
	}
	for i := range state.Accounts {
		if state.Accounts[i].Zones, err = f.zones(partKey{i, key}); err != nil {
			return desired.State{}, err
		}
	}
	return state, f.ordered()
}

// finder looks for zones in parts.
type finder struct {
	reconcile.StateParts
	begins map[int]partKey // of the parts that were looked at
	err    error           // the first one
}

// head is the state without its zones.
func (f *finder) head() (desired.State, error) {
	text, err := f.text(0)
	if err != nil {
		return desired.State{}, err
	}
	var head headText
	if err := asWritten(text, &head); err != nil {
		return desired.State{}, err
	}
	if head.ZoneCount == nil || *head.ZoneCount < f.Count-1 {
		return desired.State{}, errNotAsEncoded
	}
	return head.State, nil
}

// text is a part as it was before it was compressed.
func (f *finder) text(n int) ([]byte, error) {
	if n >= f.Count {
		return nil, errNotAsEncoded
	}
	data, err := f.Read(n)
	if err != nil {
		return nil, err
	}
	return new(decompressor).text(data)
}

// asWritten decodes what encodes to the very same text: a member that this program does not know
// would be lost unseen.
func asWritten(text []byte, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%w: %w", errNotAsEncoded, err)
	}
	var again bytes.Buffer
	if err := json.NewEncoder(&again).Encode(to); err != nil || !bytes.Equal(bytes.TrimSpace(text), bytes.TrimSpace(again.Bytes())) {
		return errNotAsEncoded
	}
	return nil
}

// zones are those of an account that have a key: one, or none.
func (f *finder) zones(at partKey) ([]desired.Zone, error) {
	after := 1 + sort.Search(f.Count-1, func(i int) bool { return f.begin(i+1).compare(at) > 0 })
	if f.err != nil || after == 1 || f.begins[after-1].account != at.account {
		return nil, f.err
	}
	text, err := f.text(after - 1)
	if err != nil {
		return nil, err
	}
	return zoneIn(text, at)
}

// begin is the account and the key of the first zone of a part.
func (f *finder) begin(n int) partKey {
	if begins, known := f.begins[n]; known || f.err != nil {
		return begins
	}
	text, err := f.text(n)
	if err == nil {
		var first keyText
		err = json.NewDecoder(bytes.NewReader(text)).Decode(&first)
		f.begins[n] = first.key()
	}
	f.err = err
	return f.begins[n]
}

// ordered fails where the parts that were looked at are in another order than that of the keys.
func (f *finder) ordered() error {
	last, seen := partKey{}, false
	for n := 1; n < f.Count; n++ {
		begins, known := f.begins[n]
		if known && seen && begins.compare(last) <= 0 {
			return errNotAsEncoded
		}
		if known {
			last, seen = begins, true
		}
	}
	return nil
}

func (k partKey) compare(o partKey) int {
	return cmp.Or(cmp.Compare(k.account, o.account), cmp.Compare(k.first, o.first))
}

// keyText is what one goes by of a [zoneText].
type keyText struct {
	Account int
	Zone    struct{ Key string }
}

func (t keyText) key() partKey { return partKey{t.Account, t.Zone.Key} }

// zoneIn is the zone of an account in the text of a part.
func zoneIn(text []byte, at partKey) (zones []desired.Zone, err error) {
	from, last := json.NewDecoder(bytes.NewReader(text)), partKey{account: -1}
	for {
		var raw json.RawMessage
		if err := from.Decode(&raw); errors.Is(err, io.EOF) {
			return zones, nil
		} else if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotAsEncoded, err)
		}
		var name keyText
		if err := json.Unmarshal(raw, &name); err != nil || name.Account != at.account || name.key().compare(last) <= 0 {
			return nil, errNotAsEncoded
		}
		if last = name.key(); last != at {
			continue
		}
		var found zoneText
		if err := asWritten(raw, &found); err != nil {
			return nil, err
		}
		zones = append(zones, found.Zone)
	}
}
