package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/integration/must"
)

// inherited is what a tier says of a member, and what is live in another zone instead.
type inherited struct {
	tier   string // the value in the tier, which a zone may change
	beside string // what else the tier has, as the member needs it
	// live are members of the live execute rule, and overrides its overrides. Of a member that
	// decides about others they are of another one, which takes the zone out of its tier.
	live, overrides string
	text            string // of the value, as absorb writes it; empty: as in the tier
}

var inheritedMembers = map[string]inherited{
	"enabled":          {tier: `*true | bool`, live: `"enabled":false`},
	"version":          {tier: `*"latest" | string`, live: `"version":"1"`},
	"expression":       {tier: `*"true" | string`, live: `"expression":"ip.src ne 192.0.2.1"`},
	"paranoia":         {tier: `*2 | int`, overrides: `"categories":[{"category":"paranoia-level-4","enabled":false}]`},
	"threshold.score":  {tier: `*40 | int`, beside: `threshold: action: "block"`, overrides: `"rules":[{"id":"c04e0000000000000000000100000018","score_threshold":25,"action":"block"}]`},
	"threshold.action": {tier: `*"block" | string`, beside: `threshold: score: 40`, overrides: `"rules":[{"id":"c04e0000000000000000000100000018","score_threshold":40,"action":"log"}]`},
	"disable.rules":    {tier: `*[{ref: "charset"}] | [...]`, overrides: `"rules":[{"id":"c04e0000000000000000000100000003","enabled":false}]`},
	"disable.tags":     {tier: `*["php"] | [...]`, overrides: `"categories":[{"category":"wordpress","enabled":false}]`},
	"all.enabled":      {tier: `*true | bool`, overrides: `"enabled":false`},
	"all.action":       {tier: `*"block" | string`, overrides: `"action":"log"`},
	"all.sensitivity":  {tier: `*"medium" | string`, overrides: `"sensitivity_level":"low"`},
	"tags":             {tier: `*[{tag: "php", action: "log"}] | [...]`, overrides: `"categories":[{"category":"php","action":"managed_challenge"}]`},
	"rules":            {tier: `*[{ref: "charset", action: "log"}] | [...]`, overrides: `"rules":[{"id":"c04e0000000000000000000100000003","action":"log"}]`},
	"unmanaged":        {tier: `"remove"`},
	"keep":             {tier: `[{tag: "wordpress"}]`},
	"remove":           {tier: `[{tag: "wordpress"}]`},
	"expression_drift": {tier: `"ignore"`},
	"bypass":           {tier: `"remove"`},
	"accepted":         {tier: `partners: {owner: "team", expression: "true", skips: "all"}`, text: `partners: {`},
	"deploy":           {tier: `true`},
	"prune":            {tier: `true`},
}

// absorbOfLive absorbs another value of the member that the tier declares.
const absorbOfLive = `
exits 0 seawall absorb blog.example --dir edge --base-url $BASE_URL --profile extended
stderr '^note: core\.%[1]s comes from tiers\.cue:9:\d+; this zone now has an exception'
exits 0 seawall plan --dir edge --base-url $BASE_URL --profile extended --only zone=blog.example --detailed-exitcode
`

// absorbBeside absorbs something else, which takes the zone out of its tier: what the tier
// decides must stay.
const absorbBeside = `
exits 0 seawall absorb blog.example --dir edge --base-url $BASE_URL --profile extended
stderr 'blog.example leaves _tier'
grep '%[2]s: +%[3]s' edge/zones.cue
exits 0 seawall plan --dir edge --base-url $BASE_URL --profile extended --only zone=blog.example --detailed-exitcode
`

// What a zone inherits from a tier can be absorbed, whichever member it is of those that a
// deployment can declare.
func TestAbsorbOfEachMember(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	for _, m := range desired.DeploymentMembers {
		of, known := inheritedMembers[m.Path]
		if !known {
			t.Errorf("no script for the member %s: say in inheritedMembers what a tier has and what is live", m.Path)
			continue
		}
		commands := absorbOfLive
		if m.Decides {
			commands, of.beside, of.live = absorbBeside, "paranoia: 2", `"enabled":false`
		}
		file := filepath.Join(dir, strings.ReplaceAll(m.Path, ".", "-")+".txtar")
		text := absorbScript(m.Path, of, commands)
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		files = append(files, file)
	}
	runScripts(t, files, "")
}

func absorbScript(path string, of inherited, commands string) string {
	labels := strings.Split(path, ".")
	value := strings.NewReplacer("[", `\[`, "{", `\{`, "]", `\]`, "}", `\}`).Replace(cmp.Or(of.text, of.tier))
	rule := []string{`"id":"d0000000000000000000000000000a02"`, `"action":"execute"`, `"ref":"core-blog.example"`}
	live := of.live
	runs := `"version":"latest"`
	if strings.HasPrefix(live, `"version"`) {
		runs, live = live, ""
	}
	for _, member := range []string{`"expression":"true"`, `"enabled":true`} {
		if name, _, _ := strings.Cut(member, ":"); !strings.HasPrefix(live, name) {
			rule = append(rule, member)
		}
	}
	if live != "" {
		rule = append(rule, live)
	}
	rule = append(rule, `"action_parameters":{"id":"c04e0000000000000000000000000001",`+runs+`,"overrides":{`+of.overrides+`}}`)
	unmanaged := "\tunmanaged: \"remove\"\n"
	if path == "unmanaged" {
		unmanaged = ""
	}
	return "sim extended\nput /zones/00000000000000000000000000000a02/entrypoint live.json\n" +
		fmt.Sprintf(commands, strings.Join(labels, `\.`), labels[len(labels)-1], value) + `
-- edge/tiers.cue --
package edge

account: prod: {
	id: "0123456789abcdef0123456789abcdef"
	ruleset: core: name: "Core Ruleset"
}
_tier: core: {
` + "\t// One member.\n\t" + strings.Join(labels, ": ") + ": " + of.tier + "\n\t" + of.beside + "\n" + unmanaged + `}
-- edge/zones.cue --
package edge

account: prod: zone: "blog.example": {id: "00000000000000000000000000000a02", waf: _tier}
-- live.json --
{"id":"e0000000000000000000000000000a02","name":"default","kind":"zone","phase":"http_request_firewall_managed","version":"5","rules":[{` +
		strings.Join(rule, ",") + "}]}\n"
}
