package move

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Sum is what the rows of a table are, whatever their order.
type Sum struct {
	Rows   int64
	Digest string // the sum of the SHA-256 of each row, modulo 2^256, hexadecimal
}

// sum gathers one.
type sum struct {
	rows  int64
	total big.Int
}

func (s *sum) add(values []any) error {
	hash := sha256.New()
	for _, value := range values {
		kind, data, err := plain(value)
		if err != nil {
			return err
		}
		hash.Write([]byte{kind})
		hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(data))))
		hash.Write(data)
	}
	s.rows++
	s.total.Add(&s.total, new(big.Int).SetBytes(hash.Sum(nil)))
	return nil
}

func (s *sum) value() Sum {
	whole := new(big.Int).Lsh(big.NewInt(1), sha256.Size*8)
	return Sum{s.rows, hex.EncodeToString(new(big.Int).Mod(&s.total, whole).FillBytes(make([]byte, sha256.Size)))}
}

// plain is a value in the form that both databases have it in.
func plain(value any) (kind byte, data []byte, err error) {
	switch v := value.(type) {
	case nil:
		return 0, nil, nil
	case int64:
		return 'i', fmt.Appendf(nil, "%d", v), nil
	case string:
		return 't', []byte(v), nil
	case []byte:
		return 'b', v, nil
	}
	return 0, nil, fmt.Errorf("a value of type %T is none of a ledger", value)
}

// Sum reads all rows.
func (t Table) Sum(ctx context.Context, tx *sql.Tx) (Sum, error) {
	var s sum
	err := t.each(ctx, tx, s.add)
	return s.value(), err
}

func (t Table) each(ctx context.Context, tx *sql.Tx, do func(values []any) error) error {
	values, places := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range values {
		places[i] = &values[i]
	}
	return rows.Each(ctx, tx, `SELECT `+t.names()+` FROM "`+t.Name+`"`, func(row *sql.Rows) error {
		if err := row.Scan(places...); err != nil {
			return err
		}
		t.common(values)
		return do(values)
	})
}

// common has values be what both databases can have. The history has what it had: its hashes are of that.
func (t Table) common(values []any) {
	if t.Name == "history" {
		body, hash := slices.Index(t.columns, "body"), slices.Index(t.columns, "hash")
		text, isText := values[body].(string)
		sum, isSum := values[hash].([]byte)
		if isText && isSum {
			values[body] = history.Original(text, sum)
		}
		return
	}
	for i, value := range values {
		if text, isText := value.(string); isText {
			values[i] = postgres.ValidText(text)
		}
	}
}

// The most that one statement adds, in parameters and in bytes. A row alone may be larger.
const (
	mostParameters = 2000
	mostBytes      = 4 << 20
)

// Copy adds the rows of from to the table in to, and returns what they are. A body of the history that
// PostgreSQL cannot keep is escaped there.
func (t Table) Copy(ctx context.Context, from, to *sql.Tx, toPostgres bool) (Sum, error) {
	var s sum
	var batch []any
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		_, err := to.ExecContext(ctx, t.insert(len(batch)/len(t.columns)), batch...)
		batch, size = batch[:0], 0
		return err
	}
	err := t.each(ctx, from, func(values []any) error {
		if err := s.add(values); err != nil {
			return err
		}
		batch = append(batch, values...)
		if body := slices.Index(t.columns, "body"); toPostgres && t.Name == "history" {
			if text, isText := values[body].(string); isText {
				batch[len(batch)-len(values)+body] = history.Escaped(text)
			}
		}
		for _, value := range values {
			switch v := value.(type) {
			case string:
				size += len(v)
			case []byte:
				size += len(v)
			}
		}
		if len(batch)+len(t.columns) > mostParameters || size > mostBytes {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return s.value(), err
}

// insert is the statement that adds so many rows.
func (t Table) insert(count int) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO "` + t.Name + `" (` + t.names() + `) VALUES `)
	for n := range count * len(t.columns) {
		switch {
		case n == 0:
			b.WriteString("(")
		case n%len(t.columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", n+1)
	}
	return b.String() + ")"
}
