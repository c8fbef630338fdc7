package pagetest

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// hostile are texts that would do harm, or break the layout, where they are taken for more
// than text.
var hostile = []string{
	`<script>document.title="taken"</script>`,
	`"><img src=x onerror=document.title="taken">`,
	`' onmouseover='document.title="taken"' x='`,
	`</td></tr></table></main><h1>taken</h1>`,
	`</title></textarea></style></svg><svg onload=document.title="taken">`,
	`javascript:document.title="taken"`,
	`{{.}}<!-- -->]]>&lt;&#60;`,
	"\u202ereversed\u202c \u2066isolated\u2069 \u200bnothing\u200b",
	"\x1b[31mred\x1b[0m\x00\r\n\ttab",
	"Z̷̢̛a̸l̴g̵o̶ 🧱🧱 عربي 漢字",
	strings.Repeat("very-long-without-a-space-", 40),
	"../../etc/passwd?a=b&c=d#e%2f%00",
}

// Marks are pieces of hostile texts that no answer in HTML may contain: each is more than text.
var Marks = []string{`<script>document`, `<img src=x`, `<h1>taken`, `<svg onload`, `' onmouseover='`}

// text is a text of the fleet, made hostile where the fleet is.
func (d *Data) text(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if !d.hostile || text == "" { // what is not said is not there
		return text
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return text + hostile[int(h.Sum32()%uint32(len(hostile)))] //nolint:gosec // twelve texts
}
