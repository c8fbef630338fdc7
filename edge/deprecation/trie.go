package deprecation

// node is a part of the index: what may follow a path's beginning.
type node struct{}
