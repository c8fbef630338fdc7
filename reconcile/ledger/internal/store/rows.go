package store

import (
	"database/sql"
	"time"
)

// Stamp is the time as a row holds it.
func (f *File) Stamp() sql.NullString {
	if f.Now == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: RowTime(f.Now()), Valid: true}
}

// RowTime is a time as a row holds it: to the second.
func RowTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// OptionalTime is NULL for the zero time.
func OptionalTime(t time.Time) sql.NullString {
	return sql.NullString{String: RowTime(t), Valid: !t.IsZero()}
}

// ParseOptional reads what OptionalTime makes.
func ParseOptional(text sql.NullString) (time.Time, error) {
	if !text.Valid {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, text.String)
}
