package judge

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// An expression that is judged Always is true of each request that is as assumed; one that is
// judged Never is true of no request at all.
func TestJudgeIsSound(t *testing.T) {
	var judged [3]int
	rapid.Check(t, func(t *rapid.T) {
		e := genExpression(t, 4)
		verdict := Expression(e.text, inAccount)
		judged[verdict]++
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "requests"), 0))
		for range 300 {
			switch {
			case verdict == Always && !e.of(draw(r, true)):
				t.Fatalf("%s is not always true", e.text)
			case verdict == Never && e.of(draw(r, false)):
				t.Fatalf("%s is true of a request", e.text)
			}
		}
	})
	for verdict, n := range judged {
		if n == 0 {
			t.Errorf("none of the expressions is %s true: the law says nothing", Verdict(verdict))
		}
	}
	t.Logf("%d sometimes, %d always, %d never", judged[Sometimes], judged[Always], judged[Never])
}

// Of up to twelve things that are true or false whatever the others are, Judge knows the answer.
func TestJudgeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 12).Draw(t, "things")
		e := genBools(t, count, 5)
		var is [2]bool
		for bits := range 1 << count {
			q := request{values: map[string]any{}}
			for i := range count {
				q.values[thing(i)] = bits>>i&1 == 1
			}
			if e.of(q) {
				is[1] = true
			} else {
				is[0] = true
			}
		}
		want := map[[2]bool]Verdict{{true, true}: Sometimes, {false, true}: Always, {true, false}: Never}[is]
		if got := Expression(e.text, inZone); got != want {
			t.Fatalf("%s: %s and not %s", e.text, got, want)
		}
	})
}

func thing(i int) string { return fmt.Sprintf("thing_%d", i) }

func genBools(t *rapid.T, count, depth int) generated {
	if depth == 0 || rapid.IntRange(0, 5).Draw(t, "leaf") == 0 {
		name := thing(rapid.IntRange(0, count-1).Draw(t, "thing"))
		return leaf(name, name, func(value any) bool { return value.(bool) })
	}
	a := genBools(t, count, depth-1)
	op := rapid.IntRange(-1, 2).Draw(t, "operator")
	if op < 0 {
		return a.not(t)
	}
	return a.join(t, op, genBools(t, count, depth-1))
}

// What may be Sometimes because nothing is known, may be so for a reason alone: to know the zone
// never turns Always into Never, or the other way around.
func TestFactsOnlyAddToVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genExpression(t, 4)
		blind, seeing := Expression(e.text, Facts{}), Expression(e.text, inAccount)
		if blind != Sometimes && blind != seeing {
			t.Fatalf("%s is %s true, and in a zone %s", e.text, blind, seeing)
		}
	})
}

// Nothing that is read makes the judge fail, and no text is judged in two ways: neither
// parentheses around an expression, nor a double "not", change what it is.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		`(http.host in {"a" "b"} and ip.src in {192.0.2.0/24 2001:db8::/32..}) and cf.zone.plan eq "ENT"`,
		`not any(lower(http.request.headers["a"][*])[*] contains r#"a"#) xor cf.waf.score in {1..5 0x10 010 -1}`,
		`http.request.uri.path ~ "^/[\"a]*" or http.host strict wildcard "\x2a\052*" or starts_with(http.host, "a")`,
		`len(http.host)>=0&&!ssl||cf.waf.score&5^^ip.src in $list or 10..5`,
		`cf.zone.name matches "(a|b)+$" or x[0] ne "a" or x["a"][*] eq fe80::1`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		verdict := Expression(text, inAccount)
		if len(text) > most-10 {
			return
		}
		form, ok := parse(text, inAccount)
		if !ok {
			if verdict != Sometimes {
				t.Errorf("%q is not understood, and %s true", text, verdict)
			}
			return
		}
		for _, n := range form.nodes {
			if n.op == opAtom && n.b >= len(form.variables[n.a].atoms) {
				t.Errorf("%q: a node of no atom", text)
			}
		}
		if got := Expression("("+text+")", inAccount); got != verdict && got != Sometimes {
			t.Errorf("%q is %s true, and in parentheses %s", text, verdict, got)
		}
		contrary := [...]Verdict{Sometimes, Never, Always}[verdict]
		// What is assumed makes nothing Never.
		if got := Expression("not ("+text+")", inAccount); got != contrary && got != Sometimes && verdict != Sometimes {
			t.Errorf("%q is %s true, and its contrary %s", text, verdict, got)
		}
	})
}
