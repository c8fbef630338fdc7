package tokens

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// scenes are what commits declare.
var scenes = map[string]func() []desired.Token{
	"":         plainScene,
	"rotating": rotatingScene,
	"before":   beforeScene,
	"after":    afterScene,
	"lost":     func() []desired.Token { return []desired.Token{plainToken("ci-dns")} },
}

// rotatingKey declares a token that rotates.
const rotatingKey = "made"

const (
	day     = 24 * time.Hour
	every   = 30 * day
	overlap = 2 * day
)

// plainScene declares tokenKeys.
func plainScene() (tokens []desired.Token) {
	for _, key := range tokenKeys {
		tokens = append(tokens, plainToken(key))
	}
	return tokens
}

// rotatingScene declares a token that Seawall makes and one that a person brings.
func rotatingScene() []desired.Token {
	made, brought := plainToken(rotatingKey), plainToken("brought")
	for _, token := range []*desired.Token{&made, &brought} {
		token.Rotate = &desired.Rotate{Every: every, Overlap: overlap}
	}
	return []desired.Token{made, brought}
}

// beforeScene and afterScene are two commits, of which the second changes one
// token, leaves two that may and may not be deleted, and adds one.
func beforeScene() []desired.Token {
	pruned := plainToken("pruned")
	pruned.Prune = true
	return []desired.Token{plainToken("changed"), pruned, plainToken("left"), plainToken("stays")}
}

func afterScene() []desired.Token {
	changed := plainToken("changed")
	changed.Condition = &desired.Condition{In: []string{"127.0.0.0/8", "::1/128"}}
	return []desired.Token{changed, plainToken("stays"), plainToken("added")}
}
