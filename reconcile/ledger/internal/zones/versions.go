package zones

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// meaning is what a version means, as rows hold it.
type meaning struct {
	news    string
	classes []byte
	pages   []meaningPage
}

type meaningPage struct {
	place int
	zones []byte
}

func meaningOf(p radar.Published) (m meaning, err error) {
	news, counts := p.News(), p.Counts()
	news.Zones = &counts
	text, err := json.Marshal(news)
	if err != nil {
		return m, fmt.Errorf("encoding a new version: %w", err)
	}
	m.news = string(text)
	if m.classes, err = packJSON(p.Classes()); err != nil {
		return m, err
	}
	place := 0
	for _, extracts := range p.Extracts() {
		page := meaningPage{place: place}
		if page.zones, err = packJSON(extracts); err != nil {
			return m, err
		}
		m.pages = append(m.pages, page)
		place += zonesOf(extracts)
	}
	return m, nil
}

func zonesOf(extracts []radar.Extract) (n int) {
	for _, e := range extracts {
		n += len(e.Zones)
	}
	return n
}

func addMeaning(ctx context.Context, tx *sql.Tx, seq int64, m meaning) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO ruleset_news (seq, news, classes) VALUES ($1, $2, $3)`, seq, m.news, m.classes); err != nil {
		return err
	}
	return rows.Exec(ctx, tx, `INSERT INTO ruleset_news_page (seq, place, zones) VALUES ($1, $2, $3)`, m.pages, func(p meaningPage) []any {
		return []any{seq, p.place, p.zones}
	})
}

// selectNews are versions with the one before them.
const selectNews = `SELECT v.seq, v.account_id, before.seq, n.news, %s FROM ruleset_version AS v
	JOIN ruleset_version AS before ON before.seq = (
		SELECT max(seq) FROM ruleset_version WHERE account_id = v.account_id AND ruleset_id = v.ruleset_id AND seq < v.seq)
	LEFT JOIN ruleset_news AS n ON n.seq = v.seq`

// newsRow is a version, and the number of the one before it.
type newsRow struct {
	reconcile.NewVersion
	before int64
}

// NewVersions implements [reconcile.RulesetPages].
func (z *Zones) NewVersions(ctx context.Context, f reconcile.VersionFilter) (versions []reconcile.NewVersion, earlier bool, err error) {
	query, args := fmt.Sprintf(selectNews, "NULL"), []any{}
	if f.Classes {
		query = fmt.Sprintf(selectNews, "n.classes")
	}
	query += ` WHERE TRUE`
	if f.Before > 0 {
		args = append(args, f.Before)
		query += fmt.Sprintf(` AND v.seq < $%d`, len(args))
	}
	if !f.Since.IsZero() {
		args = append(args, store.RowTime(f.Since))
		query += fmt.Sprintf(` AND v.at >= $%d`, len(args))
	}
	if f.Accounts != nil {
		places := []string{"NULL"} // none may be asked for
		for _, id := range f.Accounts {
			args = append(args, string(id))
			places = append(places, fmt.Sprintf("$%d", len(args)))
		}
		query += ` AND v.account_id IN (` + strings.Join(places, ", ") + `)`
	}
	found, err := store.Read(ctx, z.file, func(ctx context.Context, tx *sql.Tx) ([]newsRow, error) {
		return newsRows(ctx, tx, fmt.Sprintf(`%s ORDER BY v.seq DESC LIMIT $%d`, query, len(args)+1), append(args, f.Last+1)...)
	})
	earlier = len(found) > f.Last
	for _, row := range found[:min(len(found), f.Last)] {
		versions = append(versions, row.NewVersion)
	}
	return versions, earlier, err
}

// newsRows reads versions. Of those without news, which an earlier program has recorded, the
// rules are compared.
func newsRows(ctx context.Context, tx *sql.Tx, query string, args ...any) ([]newsRow, error) {
	found, err := rows.All(ctx, tx, query, scanNews, args...)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if r := &found[i]; r.Zones == nil {
			p, err := compared(ctx, tx, r.Number, r.before)
			if err != nil {
				return nil, err
			}
			r.News = p.News()
		}
	}
	return found, nil
}

func scanNews(row *sql.Rows, r *newsRow) error {
	var account edge.AccountID
	var news sql.NullString
	var classes []byte
	if err := row.Scan(&r.Number, &account, &r.before, &news, &classes); err != nil {
		return err
	}
	if !news.Valid {
		return nil
	}
	err := json.Unmarshal([]byte(news.String), &r.News)
	if err == nil && r.Zones == nil {
		err = errors.New("it has no counts")
	}
	if err == nil && classes != nil {
		err = unpackJSON(classes, &r.Classes)
	}
	return damagedNews(account, err)
}

func damagedNews(account edge.AccountID, err error) error {
	if err == nil {
		return nil
	}
	return store.Fault(store.ErrDamaged, fmt.Sprintf("what a version of a managed ruleset means in account %s: %v", account, err))
}

// compared is what differs in the ruleset itself between two versions on record.
func compared(ctx context.Context, tx *sql.Tx, number, before int64) (p radar.Published, err error) {
	found, err := rows.All(ctx, tx, selectRulesets+` WHERE v.seq IN ($1, $2) ORDER BY v.seq`, scanRuleset(map[string]edge.Ruleset{}), number, before)
	if err == nil && len(found) != 2 {
		err = sql.ErrNoRows // it would be: both are read in one transaction
	}
	if err != nil {
		return p, err
	}
	return radar.Compared(radar.Account{ID: found[1].Account}, found[0].Seen, found[1].Seen), nil
}

// VersionDetail implements [reconcile.RulesetPages].
func (z *Zones) VersionDetail(ctx context.Context, number int64, from int, all bool) (reconcile.VersionDetail, error) {
	d, err := store.Read(ctx, z.file, func(ctx context.Context, tx *sql.Tx) (d reconcile.VersionDetail, err error) {
		found, err := newsRows(ctx, tx, fmt.Sprintf(selectNews, "NULL")+` WHERE v.seq = $1`, number)
		if err != nil || len(found) == 0 {
			return d, err
		}
		p, err := compared(ctx, tx, number, found[0].before)
		if err != nil {
			return d, err
		}
		d.NewVersion, d.Rules = found[0].NewVersion, p.Rules
		most := 2 // one more says where the next page begins
		if all {
			most = math.MaxInt64
		}
		d.From = from
		err = rows.Each(ctx, tx, `SELECT place, zones FROM ruleset_news_page WHERE seq = $1 AND place >= $2 ORDER BY place LIMIT $3`, func(row *sql.Rows) error {
			var place int
			var packed []byte
			if err := row.Scan(&place, &packed); err != nil {
				return err
			}
			if !all && len(d.Zones) > 0 {
				d.Next = place
				return nil
			}
			var zones []radar.Extract
			err := unpackJSON(packed, &zones)
			d.Zones = append(d.Zones, zones...)
			return damagedNews(d.AccountID, err)
		}, number, from, most)
		return d, err
	})
	if err == nil && d.Number == 0 {
		err = reconcile.ErrNoVersion
	}
	return d, err
}

// FirstVersions implements [reconcile.RulesetPages].
func (z *Zones) FirstVersions(ctx context.Context) ([]reconcile.FirstVersion, error) {
	return store.Read(ctx, z.file, func(ctx context.Context, tx *sql.Tx) ([]reconcile.FirstVersion, error) {
		const query = `SELECT account_id, ruleset_id, at FROM ruleset_version
			WHERE seq IN (SELECT min(seq) FROM ruleset_version GROUP BY account_id, ruleset_id) ORDER BY seq`
		return rows.All(ctx, tx, query, func(row *sql.Rows, v *reconcile.FirstVersion) (err error) {
			var at string
			if err := row.Scan(&v.Account, &v.Ruleset, &at); err != nil {
				return err
			}
			v.At, err = time.Parse(time.RFC3339, at)
			return damagedNews(v.Account, err)
		})
	})
}

func packJSON(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding a new version: %w", err)
	}
	return pack(text)
}

func unpackJSON(packed []byte, value any) error {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}
