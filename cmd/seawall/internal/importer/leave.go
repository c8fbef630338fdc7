package importer

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/cuefile"
)

// leave takes the zone out of what it shares with others: it declares by itself all that it
// runs. That says what no exception can, such as that something of a tier is gone. Where the
// zone is a shared one as a whole, it leaves that.
func (a *absorber) leave(ctx context.Context, changes []cuefile.Change) error {
	err := a.leaveBy(ctx, changes, cuefile.Shared, cuefile.Leave)
	if err != nil && ctx.Err() == nil {
		err = a.leaveBy(ctx, changes, cuefile.SharedZone, cuefile.LeaveZone)
	}
	return err
}

// leaveBy edits the file in which the zone shares something.
func (a *absorber) leaveBy(ctx context.Context, changes []cuefile.Change,
	sharedIn func(text []byte, account, zone string) []string,
	leave func(text []byte, account string, zone desired.Zone, words cuefile.Words) ([]byte, error),
) error {
	a.texts, a.notes = maps.Clone(a.original), a.skips.notes()
	names, err := a.mentions()
	if err != nil {
		return err
	}
	at, shared := a.zone.Origin.File, []string(nil)
	for _, name := range names {
		if here := sharedIn(a.texts[name], a.account.Key, a.zone.Key); len(here) > 0 {
			at, shared = name, append(shared, here...)
		}
	}
	for _, name := range names {
		if name == at {
			a.texts[name], err = leave(a.texts[name], a.account.Key, a.wanted, a.words())
		} else {
			a.texts[name], err = cuefile.Clear(a.texts[name], a.account.Key, a.zone.Key)
		}
		if err != nil {
			return err
		}
	}
	a.notes = append(a.notes, a.sharedAcceptances(changes)...)
	changes = slices.DeleteFunc(slices.Clone(changes), func(c cuefile.Change) bool { return !c.Other() })
	if err := a.except(ctx, changes); err != nil {
		return err
	}
	slices.Sort(shared)
	from := cmp.Or(strings.Join(slices.Compact(shared), " and "), "what it shared with other zones")
	a.notes = append(a.notes, fmt.Sprintf("%s, which an exception cannot say: %s leaves %s and now declares all that it runs; a change of %s does not reach it any more",
		cmp.Or(a.why, "something shared differs"), a.zone.Key, from, from))
	return nil
}

// mentions opens the files that have the zone's key in them, and returns their names.
func (a *absorber) mentions() (names []string, err error) {
	all, err := cueFiles(a.Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		text, err := os.ReadFile(filepath.Join(a.Dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte(a.zone.Key)) {
			a.texts[name], a.original[name] = text, text
			names = append(names, name)
		}
	}
	return names, nil
}
