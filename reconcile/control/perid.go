package control

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
)

// perID has something of each of several deployments, sorted by their ids. Of most zones it is one,
// for which a map would have room for eight.
type perID[V any] []at[V]

type at[V any] struct {
	id    diff.ID
	value V
}

func (b perID[V]) find(id diff.ID) (i int, found bool) {
	return slices.BinarySearchFunc(b, id, func(a at[V], id diff.ID) int { return a.id.Compare(id) })
}

func (b perID[V]) of(id diff.ID) (value V, found bool) {
	if i, found := b.find(id); found {
		return b[i].value, true
	}
	return value, false
}

func (b *perID[V]) put(id diff.ID, value V) {
	i, found := b.find(id)
	if !found {
		*b = slices.Insert(*b, i, at[V]{id: id})
	}
	(*b)[i].value = value
}

// all is the same as a map, which is the caller's; nil for nothing.
func (b perID[V]) all() map[diff.ID]V {
	if len(b) == 0 {
		return nil
	}
	all := make(map[diff.ID]V, len(b))
	for _, a := range b {
		all[a.id] = a.value
	}
	return all
}
