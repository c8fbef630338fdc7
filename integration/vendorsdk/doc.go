// Package vendorsdk runs the vendor's own Go SDK against `seawall sim --profile
// vendor`: what a program can do with the real service it can do with the
// simulator. It is a module of its own, so that the SDK is no dependency of
// Seawall; `make real` runs it.
package vendorsdk
