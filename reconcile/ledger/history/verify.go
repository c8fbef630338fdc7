package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// Finding is one thing that is wrong with the history.
type Finding struct {
	Kind   FindingKind `json:"kind"`
	Number int64       `json:"number"` // the row
	Text   string      `json:"text"`
}

// FindingKind is what was done to the history.
type FindingKind string

// The kinds of findings.
const (
	Changed    FindingKind = "changed"    // a row does not have the hash that was recorded of it
	Dropped    FindingKind = "dropped"    // rows are missing between others
	Reordered  FindingKind = "reordered"  // a row stands in the place of another
	CutTail    FindingKind = "cut_tail"   // rows are missing at the end
	BaseMoved  FindingKind = "checkpoint" // the beginning is not the one that the checkpoint says
	NoHeadFile FindingKind = "head_file"  // a cut tail could not be told
	Missing    FindingKind = "gap"        // an entry says that entries were missing, and no person has accepted it
)

// Report is what Verify has found.
type Report struct {
	Rows     int64     `json:"rows"`
	First    int64     `json:"first"` // the number of the first row, 0 for none
	Last     int64     `json:"last"`
	From     time.Time `json:"from,omitzero"`           // when the first entry was recorded
	Head     string    `json:"head"`                    // NUMBER:HASH of the last row
	Accepted []Gap     `json:"accepted_gaps,omitempty"` // entries are missing there, which a person has accepted
	Findings []Finding `json:"findings"`
	More     int       `json:"more_findings,omitempty"` // that were left out
}

// maxFindings bounds how many findings are kept.
const maxFindings = 100

// verifier walks the chain.
type verifier struct {
	report     Report
	ends       ends
	prev       Head
	doubted    bool // something is wrong with the row before
	last       Head
	hashes     map[int64]Hash // of the rows that known heads speak of
	checkpoint *reconcile.Checkpoint
	gaps       gaps
	dropped    []reconcile.MissingEntries // between rows
}

// Verify reads the whole chain and compares it with its ends and with heads that are known
// from elsewhere. An error says only that the ledger could not be read.
func Verify(ctx context.Context, tx *sql.Tx, known ...Known) (Report, error) {
	have, err := scanEnds(tx.QueryRowContext(ctx, selectEnds))
	if err != nil {
		return Report{}, err
	}
	v := verifier{report: Report{Findings: []Finding{}}, ends: have, prev: have.base, last: have.base, hashes: map[int64]Hash{}}
	for _, k := range known {
		v.hashes[k.Number] = Hash{}
	}
	err = rows.Each(ctx, tx, `SELECT number, body, hash FROM history ORDER BY number`, func(row *sql.Rows) error {
		var number int64
		var text string
		var hash []byte
		if err := row.Scan(&number, &text, &hash); err != nil {
			return err
		}
		v.row(number, text, hash)
		return nil
	})
	if err != nil {
		return Report{}, err
	}
	v.missing()
	v.beginning()
	v.end()
	for _, k := range known {
		v.known(k)
	}
	v.report.Head = fmt.Sprintf("%d:%s", v.last.Number, v.last.Hash)
	return v.report, nil
}

func (v *verifier) find(kind FindingKind, number int64, format string, args ...any) {
	if len(v.report.Findings) >= maxFindings {
		v.report.More++
		return
	}
	v.report.Findings = append(v.report.Findings, Finding{kind, number, fmt.Sprintf(format, args...)})
}

// row looks at one row; v.prev is the one that should stand before it.
func (v *verifier) row(number int64, text string, recorded []byte) {
	v.report.Rows++
	if v.report.First == 0 {
		v.report.First = number
	}
	v.report.Last = number
	text = Original(text, recorded)
	is := Hash(sha256.Sum256([]byte(text)))
	var hash Hash
	copy(hash[:], recorded)
	var b body
	err := json.Unmarshal([]byte(text), &b)
	if v.report.From.IsZero() {
		v.report.From = b.At
	}
	sound := err == nil && is == hash && len(recorded) == len(hash)
	v.doubted = !v.fits(number, b, sound)
	if is == hash {
		v.gaps.follow(b.Entry)
	}
	if b.Checkpoint != nil && is == hash {
		v.checkpoint = b.Checkpoint
	}
	base := v.ends.base
	if first := v.report.Rows == 1 && number == base.Number+1; first && sound && b.Number == number && b.Before != base.Hash.String() {
		v.find(BaseMoved, v.ends.base.Number, "entry %d was not recorded after the entry at which the history begins", number)
	}
	if _, wanted := v.hashes[number]; wanted {
		v.hashes[number] = is
	}
	v.prev, v.last = Head{number, hash}, Head{number, is}
}

// fits reports whether a row stands where it should, and finds what is wrong where not.
func (v *verifier) fits(number int64, b body, sound bool) bool {
	missing := number - v.prev.Number - 1
	switch linked := b.Before == v.prev.Hash.String(); {
	case !sound:
		v.find(Changed, number, "entry %d is not what was recorded", number)
	case b.Number != number:
		v.find(Reordered, number, "entry %d is replaced by entry %d", number, b.Number)
	case missing > 0:
		v.dropped = append(v.dropped, reconcile.MissingEntries{From: v.prev.Number + 1, To: number - 1})
	case linked, v.doubted: // the row before it was told of already
		return true
	case v.prev == v.ends.base: // the beginning says why
	default:
		v.find(Changed, v.prev.Number, "entry %d is not the one that preceded entry %d", v.prev.Number, number)
	}
	return false
}

// beginning compares the base with the newest checkpoint.
func (v *verifier) beginning() {
	base := v.ends.base
	switch c := v.checkpoint; {
	case c == nil && base == (Head{}):
	case c == nil:
		v.find(BaseMoved, base.Number, "the history starts after entry %d, but there is no checkpoint for that", base.Number)
	case c.Number != base.Number || c.Hash != base.Hash.String():
		v.find(BaseMoved, base.Number, "the history starts after entry %d, but the checkpoint says after entry %d", base.Number, c.Number)
	}
}

// missing finds the rows that are missing between others and the gaps on record, as far as no
// person has accepted them.
func (v *verifier) missing() {
	for _, d := range v.dropped {
		if !slices.ContainsFunc(v.gaps, func(g Gap) bool { return g.Accepted > d.To && g.From <= d.From && d.To <= g.To }) {
			v.find(Dropped, d.From, "%s before entry %d", missingEntries(d.From, d.To), d.To+1)
		}
	}
	for _, gap := range v.gaps {
		if gap.Accepted != 0 {
			v.report.Accepted = append(v.report.Accepted, gap)
		} else {
			v.find(Missing, gap.Number, "entry %d says: %s", gap.Number, gap.Missing)
		}
	}
}

// Lost is the report where there is no ledger, but a head is known from elsewhere.
func Lost(known Known) Report {
	report := Report{Findings: []Finding{}, Head: fmt.Sprintf("%d:%s", 0, Hash{})}
	if lost := WithoutLedger(known); lost.Missing != "" {
		report.Findings = append(report.Findings, Finding{CutTail, lost.From, lost.Missing})
	}
	return report
}

// end compares the last row with the recorded head.
func (v *verifier) end() {
	switch head := v.ends.head; {
	case head == v.last:
	case head.Number > v.last.Number:
		v.find(CutTail, v.last.Number+1, "%s at the end", missingEntries(v.last.Number+1, head.Number))
	case head.Number < v.last.Number:
		v.find(CutTail, head.Number, "the ledger says that entry %d is the last, but there is entry %d", head.Number, v.last.Number)
	default:
		v.find(Changed, head.Number, "entry %d is not the one that was recorded last", head.Number)
	}
}

// known compares the chain with a head that was noted elsewhere.
func (v *verifier) known(k Known) {
	switch {
	case k.Missing != "":
		if v.last.Number > 0 {
			v.find(NoHeadFile, v.last.Number, "could not check for missing entries at the end: %s: %s", k.Where, k.Missing)
		}
	case k.Number > v.last.Number:
		v.find(CutTail, v.last.Number+1, "%s at the end: %s knows entry %d", missingEntries(v.last.Number+1, k.Number), k.Where, k.Number)
	case k.Number <= v.ends.base.Number:
		// It was dropped since, or is the base.
		if k.Number == v.ends.base.Number && k.Hash != v.ends.base.Hash {
			v.find(BaseMoved, k.Number, "the history begins after an entry %d that is not the one %s knows", k.Number, k.Where)
		}
	case v.hashes[k.Number] != k.Hash:
		v.find(Changed, k.Number, "entry %d is not the one that %s knows", k.Number, k.Where)
	}
}

func missingEntries(from, to int64) string {
	if from == to {
		return fmt.Sprintf("entry %d is missing", from)
	}
	return fmt.Sprintf("entries %d to %d are missing", from, to)
}
