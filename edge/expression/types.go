package expression

import "strings"

// Type is the type of a value, as the vendor's documents name it: "String", "Integer", "Boolean",
// "IP address", or "Array<…>" and "Map<…>" of one. Empty is a type that is not known.
type Type string

// The types that values of expressions have.
const (
	String    Type = "String"
	Integer   Type = "Integer"
	Boolean   Type = "Boolean"
	IPAddress Type = "IP address"
)

// plain is a type with one name: bytes are strings for the engine.
func (t Type) plain() Type {
	return Type(strings.NewReplacer("Bytes", "String", "Number", "Integer").Replace(string(t)))
}

// array is the array of a type.
func (t Type) array() Type {
	if t == "" {
		return ""
	}
	return "Array<" + t + ">"
}

// Element is the type of the elements of an array or a map.
func (t Type) Element() (element Type, is bool) {
	_, rest, is := strings.Cut(string(t), "<")
	return Type(strings.TrimSuffix(rest, ">")), is
}

func (t Type) isArray() bool { return strings.HasPrefix(string(t), "Array<") }
func (t Type) isMap() bool   { return strings.HasPrefix(string(t), "Map<") }

// a is the type with its article.
func (t Type) a() string {
	if t == Integer || t == IPAddress || t.isArray() {
		return "an " + string(t)
	}
	return "a " + string(t)
}

// fits reports whether a value of the type may stand where another is asked for. One that is not
// known may be anything.
func (t Type) fits(wanted Type) bool {
	return t == "" || t == wanted || wanted == "Array" && t.isArray() || wanted == "Map" && t.isMap()
}
