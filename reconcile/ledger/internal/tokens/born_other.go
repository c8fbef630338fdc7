//go:build !linux

package tokens

// BornAt does not tell when a file was made: only Linux is asked.
func BornAt(string) (string, error) { return "", nil }
