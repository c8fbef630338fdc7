//go:build !unix

package unitcache

import "io/fs"

// mine leaves it to the folder's access list, which is that of the state folder.
func mine(fs.FileInfo) bool { return true }
