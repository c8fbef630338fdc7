package expression

import (
	"os"
	"strings"
	"testing"
)

// Of each expression of the corpus is said what its source says of it. What is not refused by the
// grammar is printed back equal.
func TestCorpus(t *testing.T) {
	text, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[byte]string{'+': "taken", '-': "refused by the engine", '=': "refused by the documents", '?': "doubtful"}
	counts, source := map[byte]int{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if is := strings.HasPrefix(line, "## "); is || line == "" || line[0] == '#' {
			if is {
				source = line[3:]
			}
			continue
		}
		want, expression := line[0], line[2:]
		counts[want]++
		e, mistakes := Examine(expression, For{})
		got := byte('+')
		for _, m := range mistakes {
			switch {
			case m.Grade == Certain:
				got = '-'
			case m.Grade == Documented && got != '-':
				got = '='
			case got == '+':
				got = '?'
			}
		}
		if got != want || source == "" {
			t.Errorf("%s\n%s, but %s (%s)\n%s", expression, verdicts[got], verdicts[want], source, said(expression, mistakes))
		}
		if e.Root != nil {
			again(t, expression, e)
			Findings(e)
			Explain(e)
		}
	}
	if all := counts['+'] + counts['-'] + counts['='] + counts['?']; all < 300 || counts['-'] < 80 {
		t.Errorf("%d expressions, %d of them refused by the engine", all, counts['-'])
	}
	t.Log(counts)
}
