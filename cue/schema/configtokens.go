package schema

import "strings"

// checkSeal: a message about a text that does not fit #Seal would repeat it, and
// what stands there by mistake may be a secret key.
func (c *configReader) checkSeal(config *Config) {
	seal := config.Seal
	switch {
	case strings.HasPrefix(strings.ToUpper(seal.Recipient), "AGE-SECRET-KEY-"):
		c.problem("state.seal.recipient", "this is a secret key, not a recipient", "put it into a file of mode 0600, set key_file to that file, and make sure that this file was not read by others")
	case seal.Recipient != "" && !strings.HasPrefix(seal.Recipient, "age1"):
		c.problem("state.seal.recipient", "is not a recipient of age", "age-keygen -y KEYFILE prints the recipient of a key: age1…")
	}
}
