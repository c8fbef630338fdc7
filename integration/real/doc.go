// Package real has tests alone: they let Seawall meet the programs that it works with, such
// as systemd and dpkg. `make real` runs them; elsewhere each test says why it is skipped.
package real
