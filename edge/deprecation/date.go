package deprecation

import (
	"encoding/json"
	"fmt"
	"time"
)

// Date is a day in UTC, written YYYY-MM-DD; empty where there is none. Days
// compare as text. As JSON an empty one is null.
type Date string

// ParseDate reads a day and refuses one that does not exist.
func ParseDate(s string) (Date, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", fmt.Errorf("%q is not a day, written YYYY-MM-DD", s)
	}
	return Date(s), nil
}

// DateOf returns the day of an instant, in UTC.
func DateOf(at time.Time) Date { return Date(at.UTC().Format(time.DateOnly)) }

// Time is 00:00 UTC of the day; the zero time for an empty date.
func (d Date) Time() time.Time {
	t, _ := time.Parse(time.DateOnly, string(d)) // checked where it was read
	return t
}

// DaysAfter counts the days from another day to this one; negative where this
// one is earlier.
func (d Date) DaysAfter(other Date) int {
	return int(d.Time().Sub(other.Time()) / (24 * time.Hour))
}

// MarshalJSON writes null for an empty date.
func (d Date) MarshalJSON() ([]byte, error) { return textOrNull(string(d)) }

// End is an end of life: a date, [NotDated], or empty where the schedule does
// not tell it from the deprecation. As JSON an empty one is null.
type End string

// NotDated is an end of life that is to come on a day not yet published.
const NotDated End = "not dated"

// Date is the day, empty where there is none.
func (e End) Date() Date {
	if e == NotDated {
		return ""
	}
	return Date(e)
}

// MarshalJSON writes null for an empty end.
func (e End) MarshalJSON() ([]byte, error) { return textOrNull(string(e)) }

func textOrNull(s string) ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(s)
}
