package diff

// NameError says why the id of a zone, or of its account, is not known or not used: the
// platform lists none or several of the name, the declared id has another name, or the
// platform could not be asked. It is read in the place of the zone's entry point.
type NameError struct {
	State   ProblemState // [Blocked], [Unknown] or [Forbidden]
	Message string
	Hint    string
	Cause   error // why the platform could not be asked; nil where it was
}

func (e *NameError) Error() string {
	if e.Cause != nil {
		return e.Message + ": " + e.Cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *NameError) Unwrap() error { return e.Cause }
