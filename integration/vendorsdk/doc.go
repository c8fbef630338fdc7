// Package vendorsdk runs the vendor's own Go SDK against `seawall sim --profile
// vendor`: what a program can do with the real service it can do with the
// simulator. It is a module of its own, so that the SDK is no dependency of
// Seawall; `make real` runs it, with the program in SEAWALL:
//
//	go build -o /tmp/seawall ./cmd/seawall
//	cd integration/vendorsdk && SEAWALL=/tmp/seawall go test ./...
//
// TestCalls has a table of single calls, each with the answer that the vendor documents; the
// other files walk through the life of a ruleset or a token. both_test.go has the SDK and
// Seawall change the same rules in turn.
package vendorsdk
