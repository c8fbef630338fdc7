//go:build race

package integration

var buildFlags = []string{"-race"}
