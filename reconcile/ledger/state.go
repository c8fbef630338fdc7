package ledger

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"maps"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// partsMark begins the names of the parts of a state; see the schema.
const partsMark = "parts\n"

// sum names a part of a state.
type sum = [sha256.Size]byte

// SaveState implements [reconcile.Records]. Beside the parts that are new it writes their names.
func (l *Ledger) SaveState(ctx context.Context, commit string, state []reconcile.StatePart) error {
	names, wanted := []byte(partsMark), make(map[sum]bool, len(state))
	for _, part := range state {
		names = append(names, part.Sum[:]...)
		wanted[part.Sum] = true
	}
	return l.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		changed, err := rows.Changed(ctx, tx, `UPDATE accepted SET state = $1 WHERE "commit" = $2 AND state IS DISTINCT FROM $1`, names, commit)
		if err != nil || !changed {
			return err
		}
		return l.putParts(ctx, tx, state, wanted)
	})
}

// putParts has the parts of one state on record, and no others.
func (l *Ledger) putParts(ctx context.Context, tx *sql.Tx, state []reconcile.StatePart, wanted map[sum]bool) error {
	compare := compareParts
	if l.file.Database() != nil {
		compare = compareThere
	}
	missing, gone, err := compare(ctx, tx, wanted)
	if err != nil {
		return err
	}
	if err := rows.Exec(ctx, tx, `DELETE FROM state_part WHERE sum = $1`, gone, func(sum []byte) []any { return []any{sum} }); err != nil {
		return err
	}
	var news []reconcile.StatePart
	for _, part := range state {
		if missing[part.Sum] {
			delete(missing, part.Sum)
			news = append(news, part)
		}
	}
	return rows.Exec(ctx, tx, `INSERT INTO state_part (sum, data) VALUES ($1, $2)`, news, func(p reconcile.StatePart) []any {
		return []any{p.Sum[:], p.Data}
	})
}

// compareParts returns which parts of a state are not on record, and which of those there are not of it.
func compareParts(ctx context.Context, tx *sql.Tx, wanted map[sum]bool) (missing map[sum]bool, gone [][]byte, err error) {
	missing = maps.Clone(wanted)
	err = rows.Each(ctx, tx, `SELECT sum FROM state_part`, func(row *sql.Rows) error {
		var known sql.RawBytes // there are many
		if err := row.Scan(&known); err != nil {
			return err
		}
		if s, err := sumOf(known); err == nil && wanted[s] {
			delete(missing, s)
		} else {
			gone = append(gone, bytes.Clone(known))
		}
		return nil
	})
	return missing, gone, err
}

// compareThere is compareParts where PostgreSQL compares: it says what differs alone.
func compareThere(ctx context.Context, tx *sql.Tx, wanted map[sum]bool) (missing map[sum]bool, gone [][]byte, err error) {
	names := make([][]byte, 0, len(wanted))
	for s := range wanted {
		names = append(names, s[:])
	}
	missing = map[sum]bool{}
	const differs = `
		SELECT true, name FROM unnest($1::bytea[]) AS name WHERE NOT EXISTS (SELECT 1 FROM state_part WHERE sum = name)
		UNION ALL SELECT false, sum FROM state_part WHERE NOT EXISTS (SELECT 1 FROM unnest($1::bytea[]) AS name WHERE name = sum)`
	err = rows.Each(ctx, tx, differs, func(row *sql.Rows) error {
		var isNew bool
		var name []byte
		if err := row.Scan(&isNew, &name); err != nil {
			return err
		}
		if !isNew {
			gone = append(gone, name)
			return nil
		}
		s, err := sumOf(name)
		missing[s] = true
		return err
	}, names)
	return missing, gone, err
}

func sumOf(name []byte) (s sum, err error) {
	if copy(s[:], name); len(name) != len(s) {
		return s, fmt.Errorf("%d bytes are no sum", len(name))
	}
	return s, nil
}

// recallState reads a state that is whole, or in parts. Each part must be what its name says.
func recallState(ctx context.Context, tx *sql.Tx, commit string, packed []byte) (state []byte, err error) {
	if !bytes.HasPrefix(packed, []byte(partsMark)) {
		if state, err = unpack(packed); err != nil {
			return nil, damagedState(commit, err)
		}
		return state, nil
	}
	parts, err := recallParts(ctx, tx, commit, packed, nil)
	if err != nil {
		return nil, err
	}
	state = []byte{}
	for _, part := range parts {
		state = append(state, part.Data...)
	}
	return state, nil
}

// StateParts has do look at parts of what the accepted commit declares, one row for each. It reads
// none before, and they are to be read before do returns, which is not called where there is no ledger.
func (l *Ledger) StateParts(ctx context.Context, do func(reconcile.StateParts) error) error {
	return store.Explain("reading", l.file.Path, l.file.Read(ctx, func(tx *sql.Tx) error {
		var commit string
		var packed []byte
		found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT "commit", state FROM accepted`).Scan(&commit, &packed))
		if err != nil {
			return err
		}
		names, inParts := bytes.CutPrefix(packed, []byte(partsMark))
		if !found || !inParts || len(names)%sha256.Size != 0 {
			return do(reconcile.StateParts{Commit: commit})
		}
		return do(reconcile.StateParts{Commit: commit, Count: len(names) / sha256.Size, Read: func(n int) ([]byte, error) {
			return readPart(ctx, tx, commit, names[n*sha256.Size:][:sha256.Size])
		}})
	}))
}

// readPart reads one part, which must be what its name says.
func readPart(ctx context.Context, tx *sql.Tx, commit string, name []byte) (data []byte, err error) {
	found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT data FROM state_part WHERE sum = $1`, name).Scan(&data))
	if err != nil {
		return nil, err
	}
	if is := sha256.Sum256(data); !found || !bytes.Equal(is[:], name) {
		return nil, damagedState(commit, missingPart(sum(name)))
	}
	return data, nil
}

// recallParts reads the parts of a state, and the data of those alone that are not known; of all, where
// known is nil.
func recallParts(ctx context.Context, tx *sql.Tx, commit string, packed []byte, known func(sum) bool) ([]reconcile.StatePart, error) {
	all, err := sumsIn(packed[len(partsMark):])
	if err != nil {
		return nil, damagedState(commit, err)
	}
	var wanted [][]byte
	for i := range all {
		if known == nil || !known(all[i]) {
			wanted = append(wanted, all[i][:])
		}
	}
	data := map[sum][]byte{}
	take := func(row *sql.Rows) error {
		var one []byte
		err := row.Scan(&one)
		data[sha256.Sum256(one)] = one
		return err
	}
	switch {
	case known == nil:
		err = rows.Each(ctx, tx, `SELECT data FROM state_part`, take)
	case len(wanted) > 0:
		err = rows.Each(ctx, tx, `SELECT data FROM state_part WHERE sum = ANY($1::bytea[])`, take, wanted)
	}
	if err != nil {
		return nil, err
	}
	parts := make([]reconcile.StatePart, len(all))
	for i, s := range all {
		parts[i] = reconcile.StatePart{Sum: s, Data: data[s]}
	}
	for _, name := range wanted {
		if _, read := data[sum(name)]; !read {
			return nil, damagedState(commit, missingPart(sum(name)))
		}
	}
	return parts, nil
}

// sumsIn are the names of parts, one after the other.
func sumsIn(names []byte) (all []sum, err error) {
	for len(names) > 0 {
		s, err := sumOf(names[:min(len(names), sha256.Size)])
		if err != nil {
			return nil, err
		}
		all, names = append(all, s), names[sha256.Size:]
	}
	return all, nil
}

func missingPart(s sum) error { return fmt.Errorf("the part %x is missing", s[:]) }

func damagedState(commit string, err error) error {
	return store.Fault(ErrDamaged, fmt.Sprintf("the state of commit %s: %v", commit, err))
}

// pack makes gzip of a state; nil stays nil. One that is gzip already is not compressed again.
func pack(state []byte) ([]byte, error) {
	if state == nil {
		return nil, nil
	}
	var packed bytes.Buffer
	level := gzip.DefaultCompression
	if bytes.HasPrefix(state, []byte{0x1f, 0x8b}) {
		level = gzip.NoCompression
		packed.Grow(len(state) + len(state)>>8 + 1024)
	}
	w, err := gzip.NewWriterLevel(&packed, level)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(state); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func unpack(packed []byte) ([]byte, error) {
	if packed == nil {
		return nil, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
