package deprecation


// Request is what is known of a request. URL is a full address, a path below
// any base, or a path alone. An http.Header is a Header.
type Request struct {
	Method string
	URL    string
	Header map[string][]string
	Body   []byte // JSON; anything else is not looked into
}

// Response is what is known of an answer.
type Response struct {
	Status int
	Header map[string][]string
	Body   []byte
}

// Matcher is an index of a calendar. It may be used by several goroutines.
type Matcher struct {
	calendar Calendar
	root     *node
}

// Calendar returns what the matcher was made of; it must not be changed.
func (m *Matcher) Calendar() Calendar { return m.calendar }

