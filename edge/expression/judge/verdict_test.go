package judge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

var (
	inZone    = Facts{Zone: "example.com", Proved: true, Level: edge.LevelZone}
	inAccount = Facts{Zone: "example.com", Proved: true, Level: edge.LevelAccount}
)

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		expression string
		want       Verdict
	}{
		// Always, in the ways in which people write it.
		{`true`, Always},
		{`(true)`, Always},
		{`not false`, Always},
		{`http.request.uri.path contains "/"`, Always},
		{`http.request.uri contains "/"`, Always},
		{`http.request.full_uri contains "/"`, Always},
		{`starts_with(http.request.uri.path, "/")`, Always},
		{`starts_with(lower(http.request.uri.path), "/")`, Always},
		{`http.request.uri.path contains ""`, Always},
		{`http.host contains ""`, Always},
		{`http.request.uri.path wildcard "*"`, Always},
		{`http.request.uri.path wildcard "/*"`, Always},
		{`http.request.uri.path strict wildcard r"/*"`, Always},
		{`http.request.full_uri wildcard "*://*"`, Always},
		{`http.request.uri.path matches ".*"`, Always},
		{`http.request.uri.path ~ "^/"`, Always},
		{`http.request.uri.path matches r"^/.*$"`, Always},
		{`http.request.uri.path matches "^\/(.*)"`, Always},
		{`http.request.uri.path matches ".+"`, Always},
		{`http.host matches "^.*$"`, Always},
		{`ip.src in {0.0.0.0/0 ::/0}`, Always},
		{`ip.src in {0.0.0.0/1 128.0.0.0/1 ::/1 8000::/1}`, Always},
		{`ip.src in {0.0.0.0..255.255.255.255} or ip.src in {::/0}`, Always},
		{`len(http.request.uri.path) ge 0`, Always},
		{`len(http.user_agent) >= 0`, Always},
		{`cf.waf.score ge 0`, Always},
		{`cf.threat_score gt -1`, Always},
		{`ip.src.asnum in {0..9223372036854775807}`, Always},
		{`http.request.uri.path ne ""`, Always},
		{`http.host ne "a.example.com" or http.host ne "b.example.com"`, Always},
		{`not (http.host eq "a" and http.host eq "b")`, Always},
		{`not http.host in {"a" "b"} or http.host in {"b" "a" "c"}`, Always},
		{`ip.src ne 192.0.2.1 or ip.src ne 192.0.2.2`, Always},
		{`not ip.src in {10.0.0.0/8} or not ip.src in {192.0.2.0/24}`, Always},
		{`cf.waf.score lt 20 or cf.waf.score gt 10`, Always},
		{`cf.waf.score le 20 || cf.waf.score > 20`, Always},
		{`ssl or not ssl`, Always},
		{`ssl xor not ssl`, Always},
		{`!(ssl && !ssl)`, Always},
		{`http.host ne "a" or http.host contains "a"`, Always},
		{`any(http.request.headers["a"][*] eq "b") or not any(http.request.headers["a"][*]=="b")`, Always},

		// Not always: each looks like one of those.
		{`ip.src in {0.0.0.0/0}`, Sometimes},
		{`ip.src in {::/0}`, Sometimes},
		{`ip.src in {0.0.0.0/1 128.0.0.0/2 ::/0}`, Sometimes},
		{`http.request.uri.query contains "/"`, Sometimes},
		{`starts_with(http.request.full_uri, "/")`, Sometimes},
		{`http.request.uri.path contains "//"`, Sometimes},
		{`http.request.uri.path wildcard "*\\*"`, Sometimes},
		{`http.request.uri.path wildcard "/*/"`, Sometimes},
		{`http.request.uri.path matches "^/$"`, Sometimes},
		{`http.request.uri.path matches "^$"`, Sometimes},
		{`http.request.uri.path matches "a|^/"`, Sometimes},
		{`http.request.full_uri matches "^://"`, Sometimes},
		{`http.request.full_uri wildcard "://*"`, Sometimes},
		{`http.host matches ".+"`, Sometimes},
		{`len(http.request.headers["a"]) ge 0`, Sometimes}, // whether there is such a header
		{`http.request.headers["a"][0] contains ""`, Sometimes},
		{`http.request.headers["a"][0] eq "b" or http.request.headers["a"][0] ne "b"`, Sometimes},
		{`lookup_json_integer(http.request.body.raw, "a") ge 0`, Sometimes}, // may be negative
		{`lookup_json_integer(http.request.body.raw, "a") gt 5 or lookup_json_integer(http.request.body.raw, "a") le 5`, Sometimes},
		{`len(http.host) ge 1`, Sometimes},
		{`cf.waf.score gt 0`, Sometimes},
		{`cf.waf.score lt 10 or cf.waf.score gt 20`, Sometimes},
		{`http.host eq "a" or http.host eq "b"`, Sometimes},
		{`ip.src in $office or not ip.src in $home`, Sometimes},
		{`cf.waf.score & 0`, Sometimes},
		{`ip.src lt 192.0.2.1 or ip.src ge 192.0.2.1`, Sometimes}, // no order between the families
		{`cf.some_day.score ge 0`, Sometimes},
		{`ssl`, Sometimes},
		{`http.request.uri.path eq "/healthz"`, Sometimes},

		// Never.
		{`false`, Never},
		{`ssl and not ssl`, Never},
		{`http.host eq "a" and http.host eq "b"`, Never},
		{`http.host eq "a" and http.host contains "b"`, Never},
		{`http.request.headers["a"][0] eq "b" and http.request.headers["a"][0] ne "b"`, Never},
		{`cf.waf.score lt 10 and cf.waf.score gt 20`, Never},
		{`cf.waf.score gt 3 and cf.waf.score lt 4`, Never},
		{`ip.src in {10.0.0.0/8} and ip.src in {192.0.2.0/24}`, Never},
		{`ip.src in {0.0.0.0/0} and ip.src in {::/0}`, Never},
		{`(ssl or true) xor (not ssl or ssl)`, Never},

		// Never hides a rule, so that no assumption makes one.
		{`cf.waf.score lt 0`, Sometimes},
		{`not http.request.uri.path contains "/"`, Sometimes},
		{`http.request.uri.path eq "x" and starts_with(http.request.uri.path, "/")`, Never},
		{`len(http.host) lt 0`, Sometimes},
		{`cf.waf.score lt 0 and cf.waf.score lt 10`, Sometimes},
		{`http.request.uri.path contains "a" and not http.request.uri.path contains "/"`, Sometimes},

		// Operators bind in the documented order.
		{`true or false and false`, Always},
		{`true or true xor true`, Always},
		{`true xor true and false`, Always},
		{`not false and false`, Never},
		{`not ssl or ssl`, Always},
		{`true xor true or true`, Always},
		{`not not ssl or not ssl`, Always},

		// Values have several spellings.
		{`cf.waf.score eq 16 or cf.waf.score ne 0x10`, Always},
		{`cf.waf.score eq 8 or cf.waf.score ne 010`, Always},
		{`http.host eq "a\"b" or http.host ne r#"a"b"#`, Always},
		{`http.host eq "\x61\142" or http.host ne "ab"`, Always},
		{`http.host matches "[\"]" or not http.host matches r#"[\"]"#`, Always},
		{`http.host matches "[a"]" or not http.host matches r#"[a"]"#`, Always},
		{`http.host matches "a\"b" or not http.host matches r#"a"b"#`, Always},
		{`ip.src eq ::1 or ip.src ne 0:0::1`, Always},
		{`ip.src eq fe80::1 or ip.src ne FE80::1`, Always},
		{"ssl\r\n or\n\tnot ssl", Always},

		// What is not understood.
		{``, Sometimes},
		{`true or`, Sometimes},
		{`true true`, Sometimes},
		{`true or http.host eq`, Sometimes},
		{`true or (ssl`, Sometimes},
		{`true or any(ssl]`, Sometimes},
		{`true or http.host eq "a`, Sometimes},
		{`true or http.host eq "\q"`, Sometimes},
		{`true or http.host eq host`, Sometimes},
		{`true or cf.waf.score eq 08`, Sometimes},
		{`true or ip.src in {10.0.0.1/8}`, Sometimes},
		{`true or ip.src in {}`, Sometimes},
		{`true or ip.src in {1 "a"}`, Sometimes},
		{`true or ip.src eq 1 or ip.src eq "a"`, Sometimes},
		{`true or http.request.headers.names[*] eq "a"`, Sometimes},
		{`true # or false`, Sometimes},
		{`TRUE`, Sometimes},
		{`ssl OR not ssl`, Sometimes},
	} {
		if got := Expression(test.expression, inZone); got != test.want {
			t.Errorf("%s: %s and not %s", test.expression, got, test.want)
		}
	}
}

// What is known of the zone decides for which zones a rule of an account is there at all.
func TestJudgeZone(t *testing.T) {
	nowhere := Facts{Level: edge.LevelAccount}
	for _, test := range []struct {
		expression string
		facts      Facts
		want       Verdict
	}{
		{`cf.zone.name eq "example.com"`, inAccount, Always},
		{`cf.zone.name eq "example.com"`, inZone, Always},
		{`cf.zone.name eq "example.com"`, nowhere, Sometimes},
		{`cf.zone.name eq "example.com"`, Facts{Zone: "Example.com"}, Always},
		{`cf.zone.name eq "example.com"`, Facts{Zone: "ex\u00e4mple.com"}, Sometimes},
		{`cf.zone.name eq "example.net"`, inAccount, Never},
		{`cf.zone.name ne "example.com"`, inAccount, Never},
		{`cf.zone.name ne "example.net"`, inAccount, Always},
		{`cf.zone.name in {"example.com" "example.net"}`, inAccount, Always},
		{`cf.zone.name in {"example.org" "example.net"}`, inAccount, Never},
		{`not cf.zone.name in {"example.com"}`, inAccount, Never},
		{`lower(cf.zone.name) == "example.com"`, inAccount, Always},
		{`cf.zone.name contains "example"`, inAccount, Always},
		{`ends_with(cf.zone.name, ".net")`, inAccount, Never},
		{`cf.zone.name wildcard "EXAMPLE.*"`, inAccount, Always},
		{`cf.zone.name strict wildcard "EXAMPLE.*"`, inAccount, Never},
		{`cf.zone.name matches r"^(example|other)\.com$"`, inAccount, Always},
		{`cf.zone.name matches r"^other\.com$"`, inAccount, Never},
		{`cf.zone.name matches r"^other\.[a-z]+$"`, inAccount, Sometimes}, // classes differ between engines
		{`cf.zone.name in $zones`, inAccount, Sometimes},
		{`cf.zone.name eq "example.com" and ssl`, inAccount, Sometimes},
		{`cf.zone.name eq "example.net" or ssl`, inAccount, Sometimes},

		{`(true) and cf.zone.plan eq "ENT"`, inAccount, Always},
		{`(http.request.uri.path contains "/") and cf.zone.plan eq "ENT"`, inAccount, Always},
		{`(cf.zone.name eq "example.com") and cf.zone.plan eq "ENT"`, inAccount, Always},
		{`(cf.zone.name eq "example.net") and cf.zone.plan eq "ENT"`, inAccount, Never},
		{`(ip.src eq 192.0.2.7) and cf.zone.plan eq "ENT"`, inAccount, Sometimes},
		{`cf.zone.plan in {"ENT"}`, nowhere, Always},
		{`cf.zone.plan ne "ENT"`, inAccount, Sometimes},
		{`cf.zone.plan eq "ENT"`, inZone, Sometimes}, // the plan of the zone is not known
	} {
		if got := Expression(test.expression, test.facts); got != test.want {
			t.Errorf("%s in %+v: %s and not %s", test.expression, test.facts, got, test.want)
		}
	}
}

// Of more comparisons of one term than are looked at, nothing is known.
func TestJudgeManyAtoms(t *testing.T) {
	for _, n := range []int{1, 10, mostAtoms - 1, mostAtoms, mostAtoms + 10} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`http.host eq "%d"`, i))
		}
		one := strings.Join(all, " or ")
		if got := Expression(one, inZone); got != Sometimes {
			t.Errorf("%d of one term: %s", n, got)
		}
		want := Always
		if n >= mostAtoms {
			want = Sometimes
		}
		if got := Expression("("+one+") xor not ("+one+")", inZone); got != want {
			t.Errorf("%d and their contrary: %s and not %s", n, got, want)
		}
	}
}

// hostile are expressions that are made to cost much, each as long as is read.
func hostile() map[string]string {
	fill := func(open, in, shut string) string {
		n := (most - len(in)) / (len(open) + len(shut))
		return strings.Repeat(open, n) + in + strings.Repeat(shut, n)
	}
	list := func(join string, write func(name string) string) string {
		var all strings.Builder
		for i := 0; ; i++ {
			one := write(string([]byte{'a' + byte(i/144%12), 'a' + byte(i/12%12), 'a' + byte(i%12)}))
			if all.Len()+len(join)+len(one) > most {
				return all.String()
			}
			if i > 0 {
				all.WriteString(join)
			}
			all.WriteString(one)
		}
	}
	return map[string]string{
		"parentheses": fill("(", "ssl", ")"),
		"open":        fill("(", "", ""),
		"not":         fill("!", "ssl", ""),
		"functions":   fill("lower(", "x", ")"),
		"arguments":   strings.Repeat("len(", 800) + "any(" + strings.Repeat("a,", 1000) + "a)" + strings.Repeat(",1)", 800),
		"names":       list(" or ", func(s string) string { return s }),
		"pairs":       list(" or ", func(s string) string { return s + " or " + s }),
		"twelve":      list("||", func(s string) string { return s[2:] }),
		"xor":         list("^^", func(s string) string { return s[2:] }),
		"always":      list("&&", func(s string) string { return "(" + s[2:] + "^^!" + s[2:] + ")" }),
		"equal":       list(" or ", func(s string) string { return `http.host eq "` + s + `"` }),
		"not equal":   list(" or ", func(s string) string { return `x[0] ne "` + s + `"` }),
		"sets":        list(" or ", func(s string) string { return `x in {"` + s + `" "b` + s + `"}` }),
		"terms":       list(" or ", func(s string) string { return s[1:] + ` eq "` + s + `"` }),
		"containing":  list(" or ", func(s string) string { return `http.host contains "` + s + `"` }),
		"wildcards":   list(" or ", func(s string) string { return `cf.zone.name wildcard "*a*a*b*` + s + `*"` }),
		"regexps":     list(" or ", func(s string) string { return `cf.zone.name matches "(a+b*)+c?(d|e)*` + s + `"` }),
		"long texts":  `http.host eq "` + strings.Repeat("a", most/3) + `" or http.host wildcard "` + strings.Repeat("*a", most/4) + `"`,
	}
}

// No text takes long: an expression is what somebody else wrote.
func TestJudgeTakesLittleTime(t *testing.T) {
	for name, expression := range hostile() {
		best := time.Hour
		for range 5 {
			start := time.Now()
			Expression(expression, inAccount)
			best = min(best, time.Since(start))
		}
		if best > 100*time.Millisecond { // one or two in fact; other tests take the processor, too
			t.Errorf("%s: %s", name, best)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	usual := map[string]string{
		"true":  "true",
		"path":  `http.request.uri.path eq "/healthz"`,
		"usual": `(http.host in {"a.example.com" "b.example.com"} and ip.src in {192.0.2.0/24 2001:db8::/32}) and cf.zone.plan eq "ENT"`,
	}
	for name, expression := range hostile() {
		usual["hostile "+name] = expression
	}
	for name, expression := range usual {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Expression(expression, inAccount)
			}
		})
	}
}

// A name that only a declaration tells hides nothing: who writes it could hide a rule behind
// another name. It may make a rule one that is always there.
func TestADeclaredNameHidesNothing(t *testing.T) {
	declared := Facts{Zone: "example.com", Level: edge.LevelAccount}
	for expression, want := range map[string]Verdict{
		`cf.zone.name eq "example.com"`: Always,
		`cf.zone.name eq "example.net"`: Sometimes,
		`cf.zone.name ne "example.com"`: Sometimes,
	} {
		if got := Expression(expression, declared); got != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
}
