package control

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

// A state is put on record as JSON values, one after the other: the state without its
// zones, and then each zone. They are compressed while they are made, since the text of
// ten thousand zones is 16 MiB, and making it at once takes three times that. Each few zones
// are compressed on their own, one gzip member after the other, so that those which a commit
// does not change need not be made again.

// headText is a state without its zones, with their number: a text that ends between two
// members is whole for gzip. Nil is one of an earlier version, which has one member.
type headText struct {
	desired.State
	ZoneCount *int `json:",omitempty"`
}

// zoneText is a zone of the account that has this index.
type zoneText struct {
	Account int
	Zone    desired.Zone
}

// EncodeState is a state as it is put on record.
func EncodeState(state desired.State) ([]byte, error) {
	parts, err := new(encoder).encode(state)
	return reconcile.Joined(parts), err
}

// encoder encodes and decodes one state after the other. Zones that are the very same as in the state
// before are not encoded again, and parts that were in it are not decoded again: their zones are the
// very same as there. It is not safe for concurrent use.
type encoder struct {
	parts map[partKey]part
	sums  map[sum]partKey     // of the parts
	lists []list              // of the newest state, by its accounts
	made  int                 // parts that were made, or read, for tests
	walks int                 // zones that were compared or copied, for tests
	head  reconcile.StatePart // of the newest state; without data where that is not known
}

type sum = [sha256.Size]byte

// partKey names a part by its account and its first zone. A part ends where the key of the next
// zone says so, and not after a number of zones: one more zone makes one other part.
type partKey struct {
	account int
	first   string
}

// part are neighbours in an account, and what they are on record.
type part struct {
	zones []desired.Zone
	reconcile.StatePart
}

// list is all zones of an account, and the parts that they are on record in; nil where these are not known.
type list struct {
	zones []desired.Zone
	parts []part
}

// is reports whether some zones are the very same list, which is on record in known parts.
func (l list) is(zones []desired.Zone) bool {
	return len(l.parts) > 0 && len(zones) == len(l.zones) && &zones[0] == &l.zones[0]
}

// list is that of an account of the newest state.
func (e *encoder) list(account int) list {
	if account < len(e.lists) {
		return e.lists[account]
	}
	return list{}
}

// encode is [EncodeState], in parts.
func (e *encoder) encode(state desired.State) ([]reconcile.StatePart, error) {
	var to compressor
	count, parts := state.Zones(), make(map[partKey]part, len(e.parts))
	bare := headText{state, &count}
	bare.Accounts = slices.Clone(state.Accounts)
	for i := range bare.Accounts {
		bare.Accounts[i].Zones = nil
	}
	head, err := to.member(func(to *json.Encoder) error { return to.Encode(bare) })
	all := []reconcile.StatePart{reconcile.PartOf(head)}
	lists := make([]list, len(state.Accounts))
	for i, account := range state.Accounts {
		if lists[i] = e.list(i); !lists[i].is(account.Zones) && err == nil {
			lists[i], err = e.parted(&to, i, account.Zones)
		}
		for _, p := range lists[i].parts {
			parts[partKey{i, p.zones[0].Key}] = p
			all = append(all, p.StatePart)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("encoding the declarations: %w", err)
	}
	e.keep(parts, lists)
	e.head = all[0]
	return all, nil
}

// parted has the zones of an account in parts, and makes those that are not known.
func (e *encoder) parted(to *compressor, account int, all []desired.Zone) (list, error) {
	l := list{zones: all}
	for left := all; len(left) > 0; {
		zones := left[:partLen(left)]
		left, e.walks = left[len(zones):], e.walks+len(zones)
		made, have := e.parts[partKey{account, zones[0].Key}]
		if !have || !slices.EqualFunc(made.zones, zones, desired.Zone.Is) {
			data, err := to.zones(account, zones)
			if err != nil {
				return list{}, err
			}
			made.StatePart = reconcile.PartOf(data)
			e.made++
		}
		l.parts = append(l.parts, part{zones, made.StatePart})
	}
	return l, nil
}

// keep remembers the parts of the newest state.
func (e *encoder) keep(parts map[partKey]part, lists []list) {
	e.parts, e.lists, e.sums = parts, lists, make(map[sum]partKey, len(parts))
	for key, p := range parts {
		e.sums[p.Sum] = key
	}
}

// mostInPart bounds the zones of a part; about one key in oneInPart begins one.
const (
	mostInPart = 256
	oneInPart  = 64
)

// partLen is how many of some zones make the first part.
func partLen(zones []desired.Zone) int {
	for n := 1; n < len(zones); n++ {
		if n == mostInPart || beginsPart(zones[n].Key) {
			return n
		}
	}
	return len(zones)
}

// beginsPart goes by a hash of a key, FNV-1a, which costs no memory here.
func beginsPart(key string) bool {
	hash := uint32(2166136261)
	for i := range len(key) {
		hash = (hash ^ uint32(key[i])) * 16777619
	}
	return hash%oneInPart == 0
}

// compressor makes gzip members, with one writer for all of them.
type compressor struct{ gzip *gzip.Writer }

func (c *compressor) member(write func(*json.Encoder) error) (data []byte, err error) {
	var packed bytes.Buffer
	if c.gzip == nil {
		if c.gzip, err = gzip.NewWriterLevel(&packed, gzip.BestSpeed); err != nil {
			return nil, err
		}
	}
	c.gzip.Reset(&packed)
	if err := write(json.NewEncoder(c.gzip)); err != nil {
		return nil, err
	}
	if err := c.gzip.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func (c *compressor) zones(account int, zones []desired.Zone) ([]byte, error) {
	return c.member(func(to *json.Encoder) error {
		for _, z := range zones {
			if err := to.Encode(zoneText{account, z}); err != nil {
				return err
			}
		}
		return nil
	})
}
