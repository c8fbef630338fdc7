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
	Header map[string][]string
	Body   []byte
}

// Matcher is an index of a calendar. Several goroutines may use one.
type Matcher struct {
	calendar Calendar
	root     node
	loose    []hit    // what is bound to no call
	words    [][]word // that stand in a text together where a rule is met
}

// NewMatcher indexes a calendar. The error is that of [Calendar.Check].
func NewMatcher(calendar Calendar) (*Matcher, error) {
	if err := calendar.Check(); err != nil {
		return nil, err
	}
	m := &Matcher{calendar: calendar}
	for i := range calendar.Rules {
		m.addRule(i, &calendar.Rules[i])
	}
	for _, h := range m.loose {
		m.words = append(m.words, wordsOf(h.entry), lower(wordsOf(h.entry)))
	}
	return m, nil
}

// Calendar returns what the matcher was made of; it must not be changed.
func (m *Matcher) Calendar() Calendar { return m.calendar }

func (m *Matcher) addRule(i int, r *Rule) {
	m.addCalls(r.Endpoints, entry{rule: i, role: goesAway})
	m.addCalls(r.Affected, entry{rule: i, role: affected})
	for q := range r.Query {
		m.addCalls(r.Query[q].On, entry{rule: i, role: ofQuery, query: &r.Query[q]})
	}
	for b := range r.Body {
		m.addMember(&r.Body[b], entry{rule: i, role: ofBody})
	}
	for s := range r.Response {
		m.addMember(&r.Response[s], entry{rule: i, role: ofResponse})
	}
	for h := range r.Headers {
		m.loose = append(m.loose, hit{entry: &entry{rule: i, role: ofHeaders, methods: []string{AnyMethod}, headers: &r.Headers[h]}})
	}
}

func (m *Matcher) addMember(member *Member, e entry) {
	e.member = member
	if len(member.On) == 0 {
		e.methods = []string{AnyMethod}
		m.loose = append(m.loose, hit{entry: &e})
		return
	}
	m.addCalls(member.On, e)
}

func (m *Matcher) addCalls(calls []Endpoint, e entry) {
	for i := range calls {
		for _, path := range calls[i].spellings() {
			one := e
			one.endpoint, one.methods = &calls[i], calls[i].Methods
			one.template, _ = parseTemplate(path) // checked
			m.root.add(&one)
			m.words = append(m.words, wordsOf(&one))
		}
	}
}

func (e *Endpoint) spellings() []string { return append([]string{e.Path}, e.Also...) }
