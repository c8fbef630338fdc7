package expression

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Mistake is what is wrong with an expression, and where.
type Mistake struct {
	Span
	Message string
	Hint    string // what to try; may be empty
	Grade   Grade
}

// Grade says how sure it is that the platform refuses an expression.
type Grade byte

// The grades of a mistake, from what is sure to what is not.
const (
	// Certain: the vendor's published engine refuses it, whatever the phase and the plan.
	Certain Grade = iota
	// Documented: the vendor's documents say so. They may be behind the platform.
	Documented
	// Doubtful: nothing says whether the platform takes it.
	Doubtful
	// Noted: the platform takes it, and it may not mean what it should.
	Noted
)

// String is the grade as people read it: "error", "warning" or "note".
func (g Grade) String() string { return [...]string{"error", "error", "warning", "note"}[g] }

// SyntaxError is the mistake for which an expression cannot be read.
type SyntaxError struct{ Mistake }

// Error is the message.
func (e *SyntaxError) Error() string { return e.Message }

// Position is where the mistake is in the text: the line and the column, counted from 1 in
// characters.
func (m *Mistake) Position(text string) (line, column int) {
	before := text[:min(m.At, len(text))]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// Place is the position as people read it: "1:12".
func (m *Mistake) Place(text string) string {
	line, column := m.Position(text)
	return fmt.Sprintf("%d:%d", line, column)
}
