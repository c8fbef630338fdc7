package expression

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Each tree that has the shape of one is what is read of its text, however it is spelled.
func TestParseReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := genCondition(t, 4, 0)
		text := Write(root)
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if difference := cmp.Diff(bare(root), bare(e.Root)); difference != "" {
			t.Fatalf("%s is read as another tree:\n%s", text, difference)
		}
		respelled := respell(t, text)
		other, err := Parse(respelled)
		if err != nil || other.String() != text {
			t.Fatalf("%s, spelled %s: %v, %v", text, respelled, other, err)
		}
		Check(e, For{Phase: "http_ratelimit", Plan: "free"})
	})
}

// genCondition is a condition whose operator binds at least as that of a level of joins.
func genCondition(t *rapid.T, depth, level int) Node {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	switch {
	case depth == 0 || kind == 0:
		return genTerm(t, depth)
	case kind == 1:
		return &Not{Of: genCondition(t, depth-1, len(joins))}
	case kind == 2:
		return &Group{Of: genCondition(t, depth-1, 0)}
	case kind == 3 && level < len(joins):
		at := rapid.IntRange(level, len(joins)-1).Draw(t, "operator")
		n := &Logical{Op: joins[at].english}
		for range rapid.IntRange(2, 3).Draw(t, "items") {
			n.Items = append(n.Items, genCondition(t, depth-1, at+1))
		}
		return n
	}
	return genComparison(t, depth)
}

func genComparison(t *rapid.T, depth int) Node {
	n := &Comparison{Left: genTerm(t, depth), Op: operators[rapid.IntRange(0, len(operators)-1).Draw(t, "operator")].english}
	switch {
	case n.Op == "in" && rapid.Bool().Draw(t, "list"):
		n.Right = []Literal{{Kind: List, Text: rapid.SampledFrom([]string{"a", "office_1", "cf.open"}).Draw(t, "name")}}
	case n.Op == "in":
		n.Right = []Literal{}
		for range rapid.IntRange(0, 3).Draw(t, "values") {
			n.Right = append(n.Right, genLiteral(t, true))
		}
	case n.Op == "matches":
		n.Right = []Literal{{Kind: Text, Text: rapid.StringMatching(`[a"#\[\]]{0,3}(\\[".])?[a"#]{0,2}`).Draw(t, "regex")}}
	default:
		n.Right = []Literal{genLiteral(t, false)}
	}
	return n
}

func genLiteral(t *rapid.T, several bool) Literal {
	if rapid.Bool().Draw(t, "text") {
		return Literal{Kind: Text, Text: rapid.StringMatching(`[a"#\\ä\n\x00]{0,6}`).Draw(t, "text")}
	}
	values := []string{"0", "80", "-1", "0x1F", "017", "192.0.2.1", "::1", "0A:0B", "ff-00"}
	if several {
		values = append(values, "1..5", "192.0.2.0/24", "2001:db8::/32", "::1..::2")
	}
	return Literal{Kind: Bare, Text: rapid.SampledFrom(values).Draw(t, "bare")}
}

func genTerm(t *rapid.T, depth int) *Term {
	n := &Term{Name: rapid.SampledFrom([]string{"ssl", "http.host", "ip.src", "any_", "x1.y_2", "lower", "f"}).Draw(t, "name")}
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "call") == 0 {
		n.Call = true
		for range rapid.IntRange(0, 3).Draw(t, "arguments") {
			n.Args = append(n.Args, genArgument(t, depth-1))
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "indexes") {
		n.Indexes = append(n.Indexes, rapid.SampledFrom([]Index{{Kind: Each}, {Kind: Number, Number: 7}, {Kind: Key, Key: `a"\b`}}).Draw(t, "index"))
	}
	return n
}

func genArgument(t *rapid.T, depth int) Node {
	switch rapid.IntRange(0, 3).Draw(t, "argument") {
	case 0:
		l := genLiteral(t, false)
		return &l
	case 1:
		return genComparison(t, depth)
	case 2:
		return &Group{Of: genCondition(t, depth, 0)}
	}
	return genTerm(t, depth)
}

// respell writes operators with signs and other blanks. Inside of strings is nothing to respell.
func respell(t *rapid.T, text string) string {
	if strings.ContainsAny(text, "\"") {
		return text
	}
	const one = "strict wildcard" // has one blank
	pairs := []string{one, one}
	for _, j := range joins {
		pairs = append(pairs, " "+j.english+" ", j.sign)
	}
	for _, o := range operators {
		if o.sign != "" {
			pairs = append(pairs, " "+o.english+" ", o.sign)
		}
	}
	pairs = append(pairs, "not ", "!", " ", "\r\n ")
	if rapid.Bool().Draw(t, "spelling") {
		return strings.NewReplacer(pairs...).Replace(text)
	}
	return strings.NewReplacer(one, one, " ", " \n", ",", " ,").Replace(text)
}
