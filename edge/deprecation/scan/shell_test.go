package scan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShell(t *testing.T) {
	runSamples(t, []sample{
		{"shell", corpus["shell"], Shell, []string{
			`4 POST https://api.example.com/client/v4/zones/{}/filters [{"expression": "true"}]`,
		}, 0},
		{"options", strings.Join([]string{
			`curl https://h.example/zones/1/filters`,
			`curl -XDELETE -sfo /dev/null h.example/zones/1/filters/2`,
			`curl -I "https://h.example/a/$B"`,
			`curl -G https://h.example/zones/1/dns_records -d name=contains:x --data-urlencode "content=a b,$C"`,
			`curl --json '{"a":1}' --url https://h.example/a/b`,
			`curl -T file https://h.example/images/v1`,
			`curl -F file=@x.png https://h.example/images/v1`,
			`curl -d @body.json https://h.example/b`,
			`curl -d a=1 -d b=2 https://h.example/c`,
			`curl https://h.example/d https://h.example/e --next -X PUT https://h.example/f`,
			`curl -d $'{"a":\t"it\'s"}' https://h.example/g`,
			`curl -o out -w '%{http_code}' --max-time 5 --retry 3 -u "$U:$P" https://h.example/h # -X PUT`,
			`/usr/bin/curl -s https://user:pass@h.example/i | jq .; timeout 5 curl https://h.example/j && echo https://h.example/no`,
		}, "\n"), Shell, []string{
			"1 GET https://h.example/zones/1/filters",
			"2 DELETE https://h.example/zones/1/filters/2",
			"3 HEAD https://h.example/a/{}",
			"4 GET https://h.example/zones/1/dns_records?name=contains:x&content=a+b%2C{}",
			`5 POST https://h.example/a/b {"a":1}`,
			"6 PUT https://h.example/images/v1",
			"7 POST https://h.example/images/v1",
			"8 POST https://h.example/b",
			"9 POST https://h.example/c a=1&b=2",
			"10 GET https://h.example/d", "10 GET https://h.example/e", "10 PUT https://h.example/f",
			"11 POST https://h.example/g {\"a\":\t\"it's\"}",
			"12 GET https://h.example/h",
			"13 GET https://h.example/i", "13 GET https://h.example/j",
		}, 0},
		{"structure.sh", strings.Join([]string{
			`if curl -f "$BASE_URL/a/b"; then`,
			`  ID=$(curl -s "https://h.example/zones?name=$(hostname)" | jq -r '.result[0].id')`,
			`fi`,
			`for z in $ZONES; do curl \`,
			`    -X PATCH \`,
			`    "${BASE_URL:-https://h.example}/zones/${z}/settings/minify" \`,
			`    --data '{"value":`,
			`      "off"}' 2>&1 >/dev/null; done`,
			`curl -X POST https://h.example/heredoc -d @- <<EOF | jq .`,
			`{"name": "$NAME", "id": $ID, "by": "$(whoami)"}`,
			`EOF`,
			`X=` + "`curl https://h.example/back`",
			`sh -c 'curl https://h.example/inner'`,
			`cat > script.sh <<-'END'`,
			"\tcurl https://h.example/written/$LATER",
			`	END`,
			`CURL="curl -s -H 'A: b'"`,
			`$CURL https://h.example/by/variable`,
			`P=/zones/$ZONE/firewall`,
			`curl https://h.example$P/rules`,
			`f() { curl "$@" https://h.example/function; }`,
			`docker run --rm curlimages/curl curl https://h.example/docker`,
		}, "\n"), Shell, []string{
			`1 GET /a/b`,
			`2 GET https://h.example/zones?name={}`,
			`4 PATCH https://h.example/zones/{}/settings/minify {"value":` + "\n" + `      "off"}`,
			`9 POST https://h.example/heredoc {"name": "{}", "id": {}, "by": "{}"}` + "\n",
			`12 GET https://h.example/back`,
			`13 GET https://h.example/inner`,
			`15 GET https://h.example/written/{}`,
			`18 GET https://h.example/by/variable`,
			`20 GET https://h.example/zones/{}/firewall/rules`,
			`21 GET https://h.example/function`,
			`22 GET https://h.example/docker`,
		}, 0},
		{"others", strings.Join([]string{
			`wget -qO- https://h.example/zones/1/filters`,
			`wget --method=PUT --body-data='{"a":1}' --header 'X: y' https://h.example/a`,
			`wget --post-data a=1 https://h.example/b`,
			`http POST h.example/zones/1/filters expression=true paused:=false X-H:v q==contains:x`,
			`http h.example/c`,
			`https --json PATCH :/d a=b`,
			`xh -f h.example/e a=b`,
			`apt-get install -y curl jq && echo http is fine`,
			`xh delete h.example/lower`,
		}, "\n"), Shell, []string{
			"1 GET https://h.example/zones/1/filters",
			`2 PUT https://h.example/a {"a":1}`,
			"3 POST https://h.example/b a=1",
			`4 POST https://h.example/zones/1/filters?q=contains%3Ax {"expression":"true","paused":false}`,
			"5 GET https://h.example/c",
			`6 PATCH http://localhost/d {"a":"b"}`,
			"7 POST https://h.example/e",
			"9 DELETE https://h.example/lower",
		}, 0},
		{"expansion.sh", strings.Join([]string{
			`ARGS=(-X PUT -H "A: b c"); ARGS+=(-d '{"a":1}')`,
			`curl "${ARGS[@]}" "https://h.example/zones/${Z[$i]}/a"`,
			`BASE=https://h.example/; curl ${BASE%/}/b/${X:-c}`,
			`printf '{"a":"%s"}' "$B" | curl -d @- https://h.example/c`,
			`curl $(echo https://h.example/d)/{e,f} https://h.example/{1..100000000}`,
			`call() { curl -X "$1" "https://h.example$2"; }; call DELETE /g`,
			`while read -r z; do (curl "https://h.example/h/$z"); done < zones`,
			`BODY=x curl -d "$BODY" https://h.example/i <<< y`,
		}, "\n"), Shell, append([]string{
			`2 PUT https://h.example/zones/{}/a {"a":1}`,
			`3 GET https://h.example/b/c`,
			`4 POST https://h.example/c {"a":"{}"}`,
			`5 GET https://h.example/d/e`, `5 GET https://h.example/d/f`,
		}, append(numbered("5 GET https://h.example/%d", 256),
			`6 DELETE https://h.example/g`,
			`7 GET https://h.example/h/{}`,
			`8 POST https://h.example/i x`)...), 0},
		{"what is left open", "curl \"$URL\"\ncurl $1\ncurl https://h.example/a\n", Shell, []string{"3 GET https://h.example/a"}, 2},
		{"prose", "Don't worry:\n\n    curl https://h.example/a\n\nIt's easy. If \"that fails:\n\n    curl https://h.example/b\n", Shell, []string{
			"3 GET https://h.example/a", "7 GET https://h.example/b",
		}, 0},
		{"a quote left open", "echo \"$(curl https://h.example/a) and\ncurl https://h.example/b\n", Shell, []string{"1 GET https://h.example/a", "2 GET https://h.example/b"}, 1},
		{"windows", "curl https://h.example/a \\\r\n  -X PUT\r\ncurl.exe https://h.example/b\r\n", Shell, []string{"1 PUT https://h.example/a", "3 GET https://h.example/b"}, 0},
		{"no calls.sh", "echo hello\n", Shell, nil, 0},
	})
}

// Scripts written to make a reader work for ever, or grow, do neither.
func TestShellStaysBounded(t *testing.T) {
	for name, text := range map[string]string{
		"doubling variables":    "A=xxxxxxxxxxxxxxxx\n" + strings.Repeat("A=$A$A\n", 200) + "curl https://h/$A" + strings.Repeat("$A", 100_000),
		"large variable":        "A=" + strings.Repeat("x", 1000) + "\ncurl https://h/" + strings.Repeat("$A", 100_000),
		"open quotes":           "curl https://h/a\n" + strings.Repeat("\"$(\n", 20_000),
		"open substitutions":    strings.Repeat("$(", 100_000) + "\ncurl https://h/a",
		"open braces":           strings.Repeat("${", 50_000) + "\ncurl https://h/a",
		"apostrophes":           strings.Repeat("x y' z\n", 50_001) + "curl https://h/a",
		"scripts in scripts":    strings.Repeat("sh -c '", 10_000) + " curl https://h/a",
		"here-documents":        strings.Repeat("cat <<A\n", 20_000) + "curl https://h/a",
		"ranges":                "curl https://h/a " + strings.Repeat("{1..1000000}{1..1000000} ", 2_000),
		"nested here-documents": strings.Repeat("cat <<A; cat <<B; bash <<C\n$(\"\n", 5_000),
	} {
		start := time.Now()
		calls, _, err := scanAll(strings.NewReader(text), name, Options{Format: Shell})
		if took := time.Since(start); err != nil || took > 30*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		if n := len(strings.Join(calls, "")); n > 4<<20 {
			t.Errorf("%s: grows to %d bytes", name, n)
		}
	}
}

func numbered(format string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(format, i+1))
	}
	return out
}

// What stands one after another is not nested, however much it is: a command of two lines is then
// read in one piece.
func TestManyLoops(t *testing.T) {
	for name, before := range map[string]string{
		"loops":      strings.Repeat("if ! false\nthen\n  for z in a b\n  do\n    true\n  done\nfi\n", 500),
		"conditions": "if a; then\n  b\n" + strings.Repeat("elif c; then\n  d\n", 500) + "fi\n",
		"functions":  strings.Repeat("function f {\n  time true\n}\n", 500),
		"comments":   strings.Repeat("# Wait for it, if it is in time, or until all is over\n", 500),
		"colours":    strings.Repeat(`printf "\033[1m%s\033[0m\n" ok`+"\n", 500),
		"questions":  strings.Repeat("echo 'Is it?'\n", 10_000),
		"pipes":      "true" + strings.Repeat(" | cat", 500) + "\n",
	} {
		got, _ := scanned(t, "x.sh", before+"for z in a b\ndo\n  curl https://h.example/zones/$z\ndone\n", Options{})
		line := strings.Count(before, "\n") + 3
		want := []string{fmt.Sprintf("%d GET https://h.example/zones/a", line), fmt.Sprintf("%d GET https://h.example/zones/b", line)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A script that is nested so deep that its parser would end the process is read line by line.
func TestDeepScript(t *testing.T) {
	for _, c := range []struct{ begin, level string }{
		{"$((", "1?"},
		{"$((", "a["},
		{"", "a() "},
		{"", "if a;"},
		{"", "if echo done; then "},
		{"", "`if "},
		{"", `$(echo ")";`},
		{"[[ ", "a&&"},
		{"[[ ", "a||\n"},
		{"", "function a\n"},
	} {
		text := "curl https://h.example/a\n" + c.begin + strings.Repeat(c.level, (4<<20-100)/len(c.level))
		calls, _, err := scanAll(strings.NewReader(text), "x.sh", Options{})
		if err != nil || len(calls) != 1 {
			t.Errorf("%s%s: %d calls, %v", c.begin, c.level, len(calls), err)
		}
	}
}
