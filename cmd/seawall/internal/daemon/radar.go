package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page"
)

// versionsPerPage is how many new versions a page has at most.
const versionsPerPage = 20

// sight is what whoever asks may see; nil: all.
type sight struct {
	zones    map[edge.Scope]bool
	accounts map[edge.AccountID]bool
}

func (d pageData) sight(may func(inspect.ZoneLabels) bool) *sight {
	if may == nil {
		return nil
	}
	s := &sight{}
	if heart := d.heart.Load(); heart != nil {
		s.zones, s.accounts = heart.Visible(may)
	}
	return s
}

func (s *sight) account(id edge.AccountID) bool { return s == nil || s.accounts[id] }

// Radar implements [page.Data].
func (d pageData) Radar(ctx context.Context, q inspect.RadarQuery) (inspect.RadarList, error) {
	list := inspect.RadarList{Version: inspect.Version, At: time.Now(), Versions: []inspect.RadarRow{}}
	before, err := cursor(q.After)
	pages, kept := d.assembly.Records.(reconcile.RulesetPages)
	if list.Kept = kept; err != nil || !kept {
		return list, err
	}
	state, _ := d.inForce()
	sight := d.sight(q.May)
	first, err := pages.FirstVersions(ctx)
	if err != nil {
		return list, err
	}
	for _, v := range first {
		if sight.account(v.Account) {
			list.Rulesets++
			if list.KeptSince.IsZero() || v.At.Before(list.KeptSince) {
				list.KeptSince = v.At
			}
		}
	}
	versions, earlier, err := pages.NewVersions(ctx, reconcile.VersionFilter{
		Accounts: accountsOf(state, q.Account, sight), Since: q.Since, Before: before, Last: versionsPerPage, Classes: sight != nil,
	})
	if err != nil {
		return list, err
	}
	for _, v := range versions {
		if sight != nil {
			sight.count(&v)
		}
		list.Versions = append(list.Versions, radarRow(v, state))
	}
	if earlier {
		list.Next = strconv.FormatInt(versions[len(versions)-1].Number, 10)
	}
	return list, nil
}

// accountsOf are the accounts whose versions are listed: of those that may be seen, the ones
// with a key. Nil is each account.
func accountsOf(state desired.State, key string, sight *sight) []edge.AccountID {
	if key == "" && sight == nil {
		return nil
	}
	ids := []edge.AccountID{}
	for _, a := range state.Accounts {
		if (key == "" || a.Key == key) && sight.account(a.ID) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// count counts the zones of a version anew: those that may be seen.
func (s *sight) count(v *reconcile.NewVersion) {
	if v.Zones == nil {
		return
	}
	for i := range v.Classes {
		v.Classes[i].Zones = slices.DeleteFunc(v.Classes[i].Zones, func(zone edge.Scope) bool { return !s.zones[zone] })
	}
	v.Zones = new(radar.CountsOf(v.Classes))
}

// radarRow is a version in a list.
func radarRow(v reconcile.NewVersion, state desired.State) inspect.RadarRow {
	row := inspect.RadarRow{Number: v.Number, News: v.News}
	if i := slices.IndexFunc(state.Accounts, func(a desired.Account) bool { return a.ID == v.AccountID }); i >= 0 && v.Account == "" {
		row.Account = state.Accounts[i].Key
	}
	row.Account = cmp.Or(row.Account, string(v.AccountID))
	return row
}

// RadarVersion implements [page.Data].
func (d pageData) RadarVersion(ctx context.Context, number int64, q inspect.RadarQuery) (inspect.RadarPage, error) {
	result := inspect.RadarPage{Version: inspect.Version, At: time.Now(), Groups: []radar.Extract{}}
	from, err := place(q.After)
	if err != nil {
		return result, err
	}
	detail, err := d.version(ctx, number, from, d.sight(q.May))
	if errors.Is(err, reconcile.ErrNoVersion) {
		return result, fmt.Errorf("%w: new version %d of a managed ruleset is not on record, or not any more", page.ErrNotFound, number)
	}
	if err != nil {
		return result, err
	}
	state, _ := d.inForce()
	result.News, result.Rules = radarRow(detail.NewVersion, state), detail.Rules
	result.Groups = append(result.Groups, detail.Zones...)
	if detail.Next > 0 {
		result.Next = strconv.Itoa(detail.Next)
	}
	return result, nil
}

// version is what is on record of a version, as far as it may be seen.
func (d pageData) version(ctx context.Context, number int64, from int, sight *sight) (reconcile.VersionDetail, error) {
	pages, kept := d.assembly.Records.(reconcile.RulesetPages)
	switch {
	case !kept:
		return reconcile.VersionDetail{}, reconcile.ErrNoVersion
	case sight == nil:
		return pages.VersionDetail(ctx, number, from, false)
	}
	detail, err := pages.VersionDetail(ctx, number, 0, true)
	switch {
	case err != nil:
	case sight.account(detail.AccountID):
		sight.limit(&detail, from)
	default:
		return reconcile.VersionDetail{}, reconcile.ErrNoVersion
	}
	return detail, err
}

// place is where in the zones of a version a page begins.
func place(after string) (int, error) {
	if after == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(after)
	if err != nil || number <= 0 {
		return 0, inspect.ErrAfter
	}
	return number, nil
}

// limit leaves of a version with all of its zones those that may be seen: a page of them,
// beginning at a place.
func (s *sight) limit(detail *reconcile.VersionDetail, from int) {
	pages, counts := radar.Visible(detail.Zones, func(z radar.Zone) bool { return s.zones[z.Scope] })
	if detail.Zones = nil; detail.News.Zones != nil {
		detail.News.Zones = &counts
	}
	for place := 0; len(pages) > 0; pages = pages[1:] {
		if place >= from && detail.Zones == nil {
			detail.Zones = pages[0]
		} else if detail.Zones != nil {
			detail.Next = place
			return
		}
		for _, e := range pages[0] {
			place += len(e.Zones)
		}
	}
}

// readWeakened reads which versions of the last days weaken zones. It is done when there is a new
// one, so that a status asks nothing of the ledger. Where it fails, the log says so, and the
// next version has it read again.
func (d *Daemon) readWeakened(ctx context.Context) {
	pages, kept := d.assembly.Records.(reconcile.RulesetPages)
	if !kept {
		return
	}
	versions, _, err := pages.NewVersions(ctx, reconcile.VersionFilter{Since: time.Now().Add(-inspect.NewsFor), Last: versionsPerPage})
	if ctx.Err() != nil {
		return // the daemon ends, or the next one after a reload reads them
	}
	if err != nil {
		d.log.WarnContext(ctx, "new versions of managed rulesets cannot be read", "error", err.Error())
		return
	}
	state, _ := d.inForce()
	all := []inspect.Weakening{}
	for _, v := range versions {
		if w, tells := radarRow(v, state).Weakening(); tells {
			all = append(all, w)
		}
	}
	d.weakened.Store(&all)
}

// newlyWeakened are those that are not old yet.
func (d *Daemon) newlyWeakened(now time.Time) (all []inspect.Weakening) {
	known := d.weakened.Load()
	if known == nil {
		return nil
	}
	for _, w := range *known {
		if now.Sub(w.FirstSeen) < inspect.NewsFor {
			all = append(all, w)
		}
	}
	return all
}
