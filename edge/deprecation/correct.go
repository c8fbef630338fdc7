package deprecation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Addition corrects the rule with its id, or adds a rule. Fields that are set
// take the place of the rule's, and the lists add to them; what is zero leaves
// the rule as it is.
type Addition struct {
	ID          string       `json:"id"`
	Title       string       `json:"title,omitempty"`
	Date        Date         `json:"date,omitempty"`
	Extended    Date         `json:"extended,omitempty"`
	EndOfLife   End          `json:"end_of_life,omitempty"`
	Replacement *Replacement `json:"replacement,omitempty"`
	Endpoints   []Endpoint   `json:"endpoints,omitempty"`
	Affected    []Endpoint   `json:"affected,omitempty"`
	Query       []Query      `json:"query,omitempty"`
	Body        []Member     `json:"body,omitempty"`
	Response    []Member     `json:"response,omitempty"`
	Headers     []Headers    `json:"headers,omitempty"`
	Source      string       `json:"source,omitempty"`
	Note        string       `json:"note,omitempty"`
	// Where is the place it is declared at, "file:line:col", for people.
	Where string `json:"where,omitempty"`
}

// Correction is one thing in which a calendar is no longer as it was published.
type Correction struct {
	Rule  string `json:"rule"`
	Field string `json:"field"` // of the rule; empty for a rule that is new
	Old   string `json:"old"`   // empty where nothing was there, and for lists
	New   string `json:"new"`
	Where string `json:"where,omitempty"`
}

// String is "cname-flattening-setting: date 2025-03-21 → 2025-06-08".
func (c Correction) String() string {
	switch {
	case c.Field == "":
		return fmt.Sprintf("%s: new rule, %s", c.Rule, c.New)
	case c.Old == "":
		return fmt.Sprintf("%s: %s %s", c.Rule, c.Field, c.New)
	}
	return fmt.Sprintf("%s: %s %s → %s", c.Rule, c.Field, c.Old, c.New)
}

// With returns the calendar with additions on top, sorted as the schedule is,
// newest first, and what they changed: an addition that says what is so anyway
// changes nothing. The calendar itself stays as it is. The error names each
// addition with an unknown id that lacks what a new rule needs, and each that
// leaves a rule that [Calendar.Check] refuses.
func (c Calendar) With(additions []Addition) (Calendar, []Correction, error) {
	c.Rules = slices.Clone(c.Rules)
	var corrections []Correction
	var errs []error
	for _, a := range additions {
		i := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.ID == a.ID })
		if i < 0 {
			r, err := a.rule()
			errs = append(errs, err)
			c.Rules = append(c.Rules, r)
			corrections = append(corrections, Correction{Rule: a.ID, New: fmt.Sprintf("%s, %s", r.Title, r.Date), Where: a.Where})
			continue
		}
		changed, made := a.on(c.Rules[i])
		errs = append(errs, a.wrong(changed.check()))
		c.Rules[i] = changed
		corrections = append(corrections, made...)
	}
	if err := errors.Join(errs...); err != nil {
		return Calendar{}, nil, err
	}
	if len(corrections) > 0 {
		slices.SortStableFunc(c.Rules, func(a, b Rule) int { return strings.Compare(string(b.Date), string(a.Date)) })
	}
	return c, corrections, nil
}

// rule is the addition as a rule of its own.
func (a Addition) rule() (Rule, error) {
	r, _ := a.on(Rule{ID: a.ID})
	if r.Source == "" {
		r.Source = a.Where
	}
	if err := a.wrong(r.check()); err != nil {
		return r, fmt.Errorf("%w (no rule of the calendar has this id, so this would be a new one)", err)
	}
	return r, nil
}

// wrong names the addition that the errors are of.
func (a Addition) wrong(errs []error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if a.Where != "" {
		return fmt.Errorf("%s: calendar %s: %s", a.Where, a.ID, text)
	}
	return fmt.Errorf("calendar %s: %s", a.ID, text)
}

// on puts the addition on top of a rule.
func (a Addition) on(r Rule) (Rule, []Correction) {
	e := editor{rule: r.ID, where: a.Where}
	edit(&e, "title", &r.Title, a.Title)
	edit(&e, "date", &r.Date, a.Date)
	edit(&e, "extended", &r.Extended, a.Extended)
	edit(&e, "end_of_life", &r.EndOfLife, a.EndOfLife)
	edit(&e, "source", &r.Source, a.Source)
	edit(&e, "note", &r.Note, a.Note)
	if a.Replacement != nil {
		e.replace(&r.Replacement, *a.Replacement)
	}
	extend(&e, "endpoints", &r.Endpoints, a.Endpoints)
	extend(&e, "affected", &r.Affected, a.Affected)
	extend(&e, "query", &r.Query, a.Query)
	extend(&e, "body", &r.Body, a.Body)
	extend(&e, "response", &r.Response, a.Response)
	extend(&e, "headers", &r.Headers, a.Headers)
	return r, e.made
}

// editor notes what is changed in a rule.
type editor struct {
	rule, where string
	made        []Correction
}

func (e *editor) note(field, have, want string) {
	e.made = append(e.made, Correction{Rule: e.rule, Field: field, Old: have, New: want, Where: e.where})
}

func edit[T ~string](e *editor, field string, have *T, want T) {
	if want != "" && *have != want {
		e.note(field, string(*have), string(want))
		*have = want
	}
}

func (e *editor) replace(have *Replacement, want Replacement) {
	if have.Text == want.Text && have.None == want.None && slices.Equal(have.Paths, want.Paths) {
		return
	}
	if want.Text == "" && want.None {
		want.Text = "None"
	}
	e.note("replacement", have.Text, want.Text)
	*have = want
}

// extend adds to a list; the list it had stays as it is for others.
func extend[T any](e *editor, field string, have *[]T, more []T) {
	if len(more) == 0 {
		return
	}
	*have = append(slices.Clip(*have), more...)
	e.note(field, "", fmt.Sprintf("+%d", len(more)))
}
