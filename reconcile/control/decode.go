package control

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

// DecodeState is what [EncodeState] was made from; nothing is the empty state.
func DecodeState(data []byte) (state desired.State, err error) { return new(encoder).decode(data) }

// decode is [DecodeState].
func (e *encoder) decode(data []byte) (desired.State, error) {
	if len(data) == 0 {
		return desired.State{}, nil
	}
	var from decompressor
	var head headText
	zones, left, err := from.zones(members(data), &head)
	if err != nil {
		return desired.State{}, err
	}
	d := decoded{State: head.State, before: e.lists}
	err = d.add(zones, reconcile.StatePart{}) // an earlier version has all of them there
	for err == nil && len(left) > 0 {
		name := sha256.Sum256(left[0])
		if key, known := e.sums[name]; known {
			err = d.join(key.account, e.parts[key].zones, reconcile.StatePart{Sum: name, Data: left[0]})
			left = left[1:]
			continue
		}
		before := left
		if zones, left, err = from.zones(left, nil); err == nil {
			err = d.add(zones, reconcile.PartOf(bytes.Join(before[:len(before)-len(left)], nil)))
			e.made++
		}
	}
	return e.decoded(d, head, reconcile.StatePart{}, err)
}

// decoded is a state that was decoded, with these data of its head, and remembers its parts.
func (e *encoder) decoded(d decoded, head headText, data reconcile.StatePart, err error) (desired.State, error) {
	if n := d.Zones(); err == nil && head.ZoneCount != nil && *head.ZoneCount != n {
		err = fmt.Errorf("%d zones of %d: %w", n, *head.ZoneCount, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return desired.State{}, err
	}
	e.keep(d.kept())
	e.walks += d.copied
	e.head = data
	return d.State, nil
}

// decoded is a state whose parts are added one after the other.
type decoded struct {
	desired.State
	places []placeOfPart
	before []list // of the state before, by its accounts
	copied int    // zones, for tests
}

// placeOfPart is where the zones of a part are.
type placeOfPart struct {
	account, from, to int
	reconcile.StatePart
}

// add adds zones as a part has them. Those of several accounts are no part that there is once more.
func (d *decoded) add(zones []zoneText, part reconcile.StatePart) error {
	for len(zones) > 0 {
		account, own := zones[0].Account, []desired.Zone(nil)
		for len(zones) > 0 && zones[0].Account == account {
			own, zones = append(own, zones[0].Zone), zones[1:]
		}
		if err := d.join(account, own, part); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoded) join(account int, zones []desired.Zone, part reconcile.StatePart) error {
	if account < 0 || account >= len(d.Accounts) {
		return fmt.Errorf("zone %s belongs to no account", zones[0].Scope)
	}
	all := &d.Accounts[account].Zones
	d.places = append(d.places, placeOfPart{account, len(*all), len(*all) + len(zones), part})
	if *all == nil && account < len(d.before) { // most often it is as long as before, or by one longer
		*all = slices.Grow(*all, max(len(d.before[account].zones)+1, len(zones)))
	}
	*all = append(*all, zones...)
	d.copied += len(zones)
	return nil
}

// share has an account have the zones that it has in the state before, where it has no others so far.
func (d *decoded) share(account int) bool {
	l := d.before[account]
	if account >= len(d.Accounts) || len(d.Accounts[account].Zones) > 0 {
		return false
	}
	n := 0
	for _, p := range l.parts {
		d.places = append(d.places, placeOfPart{account, n, n + len(p.zones), p.StatePart})
		n += len(p.zones)
	}
	d.Accounts[account].Zones = slices.Clip(l.zones) // no other part is to be written behind them
	return true
}

// kept are the parts, with the zones of this state and no other, and the lists of its accounts.
func (d *decoded) kept() (map[partKey]part, []list) {
	parts, lists, some := make(map[partKey]part, len(d.places)), make([]list, len(d.Accounts)), make([]bool, len(d.Accounts))
	for i, at := range d.places {
		again := i+1 < len(d.places) && d.places[i+1].Sum == at.Sum || i > 0 && d.places[i-1].Sum == at.Sum
		if again || at.Data == nil {
			some[at.account] = true
			continue
		}
		zones := d.Accounts[at.account].Zones[at.from:at.to:at.to]
		p := part{zones, at.StatePart}
		parts[partKey{at.account, zones[0].Key}], lists[at.account].parts = p, append(lists[at.account].parts, p)
	}
	for i := range lists {
		if lists[i].zones = d.Accounts[i].Zones; some[i] {
			lists[i] = list{}
		}
	}
	return parts, lists
}

// memberBegins are the first bytes of each member that [compressor] makes. Only a daemon with a
// state on record needs them, and no start of a command is to wait for them.
var memberBegins = sync.OnceValue(func() []byte {
	var to compressor
	data, err := to.member(func(*json.Encoder) error { return nil })
	if err != nil {
		panic(err) // it writes to memory
	}
	return data[:10]
})

// members cuts a text before whatever looks like the beginning of a member. What is within one may
// look so: then no cut piece is whole, and none has a known sum.
func members(data []byte) (pieces [][]byte) {
	for len(data) > 0 {
		n := len(data)
		if next := bytes.Index(data[1:], memberBegins()); next >= 0 {
			n = next + 1
		}
		pieces, data = append(pieces, data[:n:n]), data[n:]
	}
	return pieces
}

// mostPieces is how many pieces may make a member: a text of ten bytes is hardly twice in one.
const mostPieces = 3

// decompressor reads members, with one reader for all of them.
type decompressor struct{ gzip *gzip.Reader }

// zones reads the head, where it is wanted, and the zones of the first member, of as many pieces as
// make it, and returns the pieces that are left.
func (d *decompressor) zones(pieces [][]byte, head *headText) (zones []zoneText, left [][]byte, err error) {
	for n := 1; n <= min(mostPieces, len(pieces)); n++ {
		if zones, err = d.read(bytes.Join(pieces[:n], nil), head); err == nil {
			return zones, pieces[n:], nil
		}
	}
	return nil, nil, err
}

// text is all that members have.
func (d *decompressor) text(data []byte) ([]byte, error) {
	if err := d.reset(data); err != nil {
		return nil, err
	}
	return io.ReadAll(d.gzip)
}

func (d *decompressor) reset(data []byte) error {
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	return d.gzip.Reset(bytes.NewReader(data))
}

func (d *decompressor) read(data []byte, head *headText) (zones []zoneText, err error) {
	if err := d.reset(data); err != nil {
		return nil, err
	}
	from := json.NewDecoder(d.gzip)
	if head != nil {
		*head = headText{}
		if err := from.Decode(head); err != nil {
			return nil, err
		}
	}
	for {
		var z zoneText
		switch err := from.Decode(&z); {
		case errors.Is(err, io.EOF):
			return zones, nil
		case err != nil:
			return nil, err
		}
		zones = append(zones, z)
	}
}
