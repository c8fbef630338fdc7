package cuefile

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Bounds of what is written into one folder: the cost of evaluating one grows faster than
// its number of zones, and a file is at most 1 MiB.
const (
	zonesPerFolder = 500
	bytesPerFile   = 400 << 10
)

// Write writes a repository. Beside the main file there are one with the tiers, and those
// with the zones: one for each account, or, of a large fleet, a folder for each tier.
func Write(r Repository) ([]File, Summary, error) {
	w := fileWriter{Repository: r}
	fields := make([][]field, 0, 64)
	var keys []string
	for _, a := range r.Accounts {
		for _, z := range a.Zones {
			fields, keys = append(fields, fieldsOf(z.Zone, a.Words)), append(keys, z.Key)
		}
	}
	places, tiers := factor(fields)
	nameTiers(cmp.Or(r.TierPrefix, plainPrefix), tiers, places, keys)
	if r.Simple {
		places, tiers = own(fields), nil
	}
	w.summarise(places, tiers)
	w.main()
	w.tiers(tiers)
	from := 0
	for _, a := range r.Accounts {
		w.account(a, places[from:from+len(a.Zones)], tiers)
		from += len(a.Zones)
	}
	w.tokens()
	for i, f := range w.files {
		text, err := format.Source(f.Content, format.Simplify())
		if err != nil {
			return nil, Summary{}, fmt.Errorf("writing %s: %w", f.Name, err)
		}
		w.files[i].Content = text
	}
	return w.files, w.summary, nil
}

type fileWriter struct {
	Repository
	files   []File
	summary Summary
}

func (w *fileWriter) summarise(places []place, tiers []*tier) {
	w.summary.Tiers = len(tiers)
	for _, p := range places {
		switch {
		case p.tier != nil && len(p.fields) > 0:
			w.summary.Exceptions++
		case p.tier == nil && len(p.fields) > 0:
			w.summary.Own++
		}
	}
}

func (w *fileWriter) add(name string, p *printer) {
	w.files = append(w.files, File{Name: path.Join(w.Dir, name+".cue"), Content: []byte(p.String())})
}

// beside names a file that goes beside the main one: of its own in a new repository, after
// the main one in a folder that has others.
func (w *fileWriter) beside(name string) string {
	if w.Schema != "" {
		return name
	}
	return w.Base + "-" + name
}

// begin begins a file, with lines of a comment above its package.
func (w *fileWriter) begin(header ...string) *printer {
	p := &printer{}
	p.comment(header...)
	p.WriteString("package " + w.Package + "\n\n")
	return p
}

// main declares the accounts with their managed rulesets.
func (w *fileWriter) main() {
	p := w.begin(w.Header...)
	if w.Schema != "" {
		p.comment(`For editors only: completion, and most mistakes as you type. What counts is`, `"seawall validate".`)
		fmt.Fprintf(p, "import %s\n\nseawall.#Desired\n\n", String(w.Schema))
	}
	for _, a := range w.Accounts {
		if a.Inherited && len(a.Rulesets) == 0 && len(a.Notes) == 0 {
			continue
		}
		p.accountHead(a)
	}
	if w.User != "" {
		p.comment("The calling user, the only one that a policy may name.")
		fmt.Fprintf(p, "user: %s\n", String(w.User))
	}
	if len(w.Header) > 0 || w.User != "" || strings.Contains(p.String(), "account: ") {
		w.add(w.Base, p)
	}
}

// PackageOf is the name in the package clause of a file; empty where it has none.
func PackageOf(text []byte) string {
	file, err := parser.ParseFile("", text, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return file.PackageName()
}

func (p *printer) accountHead(a Account) {
	if a.Comment != "" && comment(a.Comment) != a.Key {
		p.comment(a.Comment)
	}
	p.WriteString("account: " + Label(a.Key) + ": {\n")
	if !a.Inherited {
		p.WriteString("id: " + String(string(a.ID)) + "\n")
	}
	for _, r := range a.Rulesets {
		p.WriteString("ruleset: " + Label(r.Key) + ": ")
		if r.Name != "" {
			p.WriteString("name: " + String(r.Name) + "\n")
			continue
		}
		p.WriteString("id: " + String(string(r.ID)))
		if name := comment(a.RulesetComment[r.Key]); name != "" {
			p.WriteString(" // " + name)
		}
		p.WriteString("\n")
	}
	if len(a.Notes) > 0 {
		p.WriteString("\n")
		p.comment(a.Notes...)
	}
	p.WriteString("}\n\n")
}

// tiers declares what zones share. Hidden fields belong to the package, in this folder and
// the folders below it.
func (w *fileWriter) tiers(tiers []*tier) {
	if len(tiers) == 0 {
		return
	}
	p := w.begin()
	p.comment("What many zones run. A value with * is a default: a zone may say something else.", "The names are for you to choose.")
	p.comment(w.about()...)
	for _, t := range tiers {
		p.WriteString("\n" + t.name + ": ")
		p.defaults = true
		p.value(treeOf(t.fields))
		p.defaults = false
		p.WriteString("\n")
	}
	w.add(w.beside("tiers"), p)
}

// about are the lines about what zones run, once.
func (w *fileWriter) about() (lines []string) {
	lines, w.About = w.About, nil
	return lines
}

// written is a zone as text, and where it belongs.
type written struct {
	tier string // empty for none
	text string
}

// account declares the zones of one account.
func (w *fileWriter) account(a Account, places []place, tiers []*tier) {
	if len(a.Zones) == 0 {
		return
	}
	groups := map[string][]written{}
	for i, z := range a.Zones {
		name := ""
		if places[i].tier != nil {
			name = places[i].tier.name
		}
		groups[name] = append(groups[name], written{name, zoneText(z, places[i])})
	}
	var order []string
	for _, t := range tiers {
		if len(groups[t.name]) > 0 {
			order = append(order, t.name)
		}
	}
	if len(groups[""]) > 0 {
		order = append(order, "")
	}
	if w.small(groups) {
		name := "zones"
		if len(w.Accounts) > 1 {
			name = "zones-" + slug(a.Key)
		}
		w.add(w.beside(name), w.zones(a.Key, order, groups))
		return
	}
	for _, tier := range order {
		for i, part := range split(groups[tier]) {
			w.add(path.Join(w.folder(a, tier, i), "zones"), w.zones(a.Key, []string{tier}, map[string][]written{tier: part}))
		}
	}
}

// small reports whether all zones fit into the folder of the main file.
func (w *fileWriter) small(groups map[string][]written) bool {
	zones, bytes := 0, 0
	for _, a := range w.Accounts {
		zones += len(a.Zones)
	}
	for _, group := range groups {
		for _, z := range group {
			bytes += len(z.text)
		}
	}
	return zones <= zonesPerFolder && bytes <= bytesPerFile
}

// folder is the one for a part of a tier: tier-a, tier-a-2, other.
func (w *fileWriter) folder(a Account, tier string, part int) string {
	name := "other"
	if tier != "" {
		name = slug(tierFolder().ReplaceAllString(strings.TrimPrefix(tier, "_"), "$1-$2"))
	}
	if part > 0 {
		name += fmt.Sprintf("-%d", part+1)
	}
	if len(w.Accounts) > 1 {
		name = path.Join(slug(a.Key), name)
	}
	return w.beside(name)
}

// tierFolder splits the words of a tier's name.
var tierFolder = lazyregexp.New(`([a-z])([A-Z\d])`)

func split(group []written) (parts [][]written) {
	bytes := 0
	for _, z := range group {
		bytes += len(z.text)
		if last := len(parts) - 1; last < 0 || len(parts[last]) >= zonesPerFolder || bytes > bytesPerFile {
			parts, bytes = append(parts, nil), len(z.text)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], z)
	}
	return parts
}

// slug is a key as the name of a file.
func slug(key string) string {
	return cmp.Or(strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, key), "-"), "account")
}

func (w *fileWriter) zones(account string, order []string, groups map[string][]written) *printer {
	p := w.begin(w.about()...)
	p.WriteString("account: " + Label(account) + ": zone: {\n")
	for i, tier := range order {
		if i > 0 {
			p.WriteString("\n")
		}
		switch {
		case len(order) == 1 && tier == "":
		case tier == "":
			p.WriteString("// Zones without a tier.\n\n")
		case len(order) > 1:
			p.WriteString("// Zones of " + tier + ".\n\n")
		}
		for _, z := range groups[tier] {
			p.WriteString(z.text)
		}
	}
	p.WriteString("}\n")
	return p
}

// zoneText is one zone: in one line where its tier says everything. The id of a zone that
// is declared by its name is a comment.
func zoneText(z Zone, at place) string {
	p := &printer{}
	p.comment(z.Notes...)
	p.WriteString(Label(z.Key) + ": ")
	labels := labelText(z)
	waf := "{}"
	if at.tier != nil {
		waf = at.tier.name
	}
	if len(at.fields) == 0 && labels == "" && len(z.Others) == 0 {
		if z.ByName {
			p.WriteString("waf: " + waf + " // id " + z.Scope.ID + "\n")
		} else {
			p.WriteString("{id: " + String(z.Scope.ID) + ", waf: " + waf + "}\n")
		}
		return p.String()
	}
	p.WriteString("{\n")
	if z.ByName {
		p.comment("id " + z.Scope.ID)
	} else {
		p.WriteString("id: " + String(z.Scope.ID) + "\n")
	}
	p.WriteString(labels)
	if at.tier != nil || len(at.fields) > 0 || len(z.Others) == 0 {
		p.deployments(treeOf(at.fields), at.tier)
	}
	for _, c := range treeOf(othersOf(z.Zone)).children {
		p.member(c)
		p.WriteString("\n")
	}
	p.WriteString("}\n")
	return p.String()
}

// deployments writes what a zone runs: its tier with exceptions, or all of it.
func (p *printer) deployments(root *node, t *tier) {
	switch {
	case t != nil:
		p.WriteString("waf: " + t.name + "\n")
		for _, c := range root.children {
			p.WriteString("waf: ")
			p.member(c)
			p.WriteString("\n")
		}
	case len(root.children) == 0:
		p.WriteString("waf: {}\n")
	default:
		p.WriteString("waf: ")
		p.value(root)
		p.WriteString("\n")
	}
}

func labelText(z Zone) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(z.Labels)) {
		b.WriteString("labels: " + Label(key) + ": " + String(z.Labels[key]) + "\n")
	}
	return b.String()
}
