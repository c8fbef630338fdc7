// Package deprecation knows the platform's published schedule of what is deprecated
// (reference, "Deprecation schedule") and finds who still uses it.
//
// A [Calendar] is data: a [Rule] for every row of the schedule. A [Matcher] is
// an index of one calendar. It is asked about requests, about answers, or about
// a path alone, and says with a [Notice] for each rule what is leant on, what
// that means on a given day, and how the request would read without it:
//
//	m, err := deprecation.NewMatcher(calendar)
//	for _, n := range m.Match(deprecation.Request{Method: "GET", URL: url}, day) {
//		fmt.Println(n.Rule, n.State, n.DaysLeft, n.Replacement)
//	}
//
// The package is pure: it reads no clock, no file and no network. The calendar
// that Seawall carries is in cue/schema; [Calendar.With] puts a repository's
// corrections on top of one.
package deprecation

// Calendar is a schedule of deprecations.
type Calendar struct {
	// DataAsOf is the day on which the data was known to say what the schedule
	// says. Whatever was published later is not in it.
	DataAsOf Date `json:"data_as_of"`
	// Basis says in a sentence what DataAsOf rests on.
	Basis string `json:"basis,omitempty"`
	// Rules are the rows of the schedule, in its order: newest first.
	Rules []Rule `json:"rules"`
}

// Rule is one row of the schedule: what is deprecated on a day, and what takes its
// place. The lists say by what a dependence shows; a rule may have several.
type Rule struct {
	ID    string `json:"id"`    // a slug that stays, whatever happens to the dates
	Title string `json:"title"` // what is deprecated, in a few words
	Date  Date   `json:"date"`  // from 00:00 UTC of this day on
	// Extended is a later day that the schedule gives to some forms of the
	// rule: to the query forms marked so, or to all of the rule where none is.
	Extended Date `json:"extended,omitempty"`
	// EndOfLife is set where the schedule tells the end of life from the
	// deprecation: a date, or [NotDated].
	EndOfLife End `json:"end_of_life,omitempty"`
	// Moved lists other days that were published for the rule. None of them is
	// in force; a repository that believes one declares it as a correction.
	Moved []Moved `json:"moved,omitempty"`

	Replacement Replacement `json:"replacement"`

	Endpoints []Endpoint `json:"endpoints,omitempty"` // calls that go away as a whole
	Affected  []Endpoint `json:"affected,omitempty"`  // calls that stay and change
	Query     []Query    `json:"query,omitempty"`
	Body      []Member   `json:"body,omitempty"`     // of requests
	Response  []Member   `json:"response,omitempty"` // of answers
	Headers   []Headers  `json:"headers,omitempty"`

	// Source is where the rule is from: the row of the reference, or a
	// repository's file.
	Source string `json:"source"`
	// Note is what a reader should know of how the row was read.
	Note string `json:"note,omitempty"`
}

// Moved is a day that another edition of the schedule gives to a rule.
type Moved struct {
	Date   Date   `json:"date"`
	Source string `json:"source"`
}

// Replacement is what takes the place of what is deprecated.
type Replacement struct {
	Text  string   `json:"text"`           // in the schedule's words
	None  bool     `json:"none,omitempty"` // the schedule says that there is none
	Paths []string `json:"paths,omitempty"`
}

// AnyMethod in an endpoint's methods stands for all of them.
const AnyMethod = "*"

// Endpoint is a path and the methods that the schedule lists on it; other
// methods are not meant. Parameters of a path are written ":name" or "{name}",
// the leading slash may be left out, and "..." at the end stands for whatever
// follows, nothing included.
type Endpoint struct {
	Methods []string `json:"methods"`
	Path    string   `json:"path"`
	// Also lists other spellings of the same path.
	Also []string `json:"also,omitempty"`
	// To is the path that takes over, with parameters of the same names.
	To string `json:"to,omitempty"`
	// Field is the field that takes over where the reference shows no path for
	// it, and Values says how a body's "value" maps to it.
	Field  string    `json:"field,omitempty"`
	Values []Mapping `json:"values,omitempty"`
	Note   string    `json:"note,omitempty"`
}

// Mapping is an old value and the new one.
type Mapping struct {
	From string `json:"from"`
	To   bool   `json:"to"`
}

// Form is a way to write a filter in a query.
type Form string

// The forms of the schedule.
const (
	FormContains   Form = "contains"    // name=contains:x
	FormStartsWith Form = "starts_with" // name=starts_with:x
	FormEndsWith   Form = "ends_with"   // name=ends_with:x
	FormList       Form = "list"        // name=one,two
)

// Query is a form of a query parameter that ends.
type Query struct {
	On    []Endpoint `json:"on"`
	Param string     `json:"param"`
	Form  Form       `json:"form"`
	// To is the parameter that takes the bare value; of a list it is Param.
	To string `json:"to"`
	// Extended: the form ends on the rule's extended day.
	Extended bool `json:"extended,omitempty"`
}

// Member is a member of a JSON body that ends. Paths are names joined by
// dots; lists on the way are looked through, element by element.
type Member struct {
	On   []Endpoint `json:"on"`           // empty: wherever the body is
	In   string     `json:"in,omitempty"` // the objects to look at; empty: the body itself
	Path string     `json:"path"`         // within such an object
	// Equals narrows it to members with this value, written as text.
	Equals string `json:"equals,omitempty"`
	When   *When  `json:"when,omitempty"`
	// Recipe is how a body without the member is made.
	Recipe Recipe `json:"recipe,omitempty"`
	// Field is the field that takes over where no path is shown for it.
	Field string `json:"field,omitempty"`
}

// When is a condition on the object that holds the member.
type When struct {
	Path   string `json:"path"`
	Equals string `json:"equals"` // the value, as text
	// Beside lists members any of which stands for the condition where Path is
	// absent, as in a partial update.
	Beside []string `json:"beside,omitempty"`
	// Prefix stands for it too, where Path is absent: the member itself begins so.
	Prefix string `json:"prefix,omitempty"`
}

// Recipe names a way to rewrite a body.
type Recipe string

// The recipes.
const (
	RecipeDrop Recipe = "drop"     // the member is ignored: leave it out
	RecipeSRV  Recipe = "srv_name" // data.service, proto and name become the outer name
)

// Headers are header fields that must not come together in one request.
type Headers struct {
	All []string `json:"all"`
}
