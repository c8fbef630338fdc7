package cli

import "testing"

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"my-edge/edge.cue": "my-edge/edge.cue", "my edge": "'my edge'", "": "''", "it's": `"it's"`,
		"a;b": "'a;b'", "ümlaut": "ümlaut", "$HOME": "'$HOME'", `C:\edge`: `'C:\edge'`,
	} {
		if got := Quoted(word); got != want {
			t.Errorf("%q is written %s, want %s", word, got, want)
		}
	}
}
