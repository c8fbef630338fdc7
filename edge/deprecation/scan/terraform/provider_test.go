package terraform

import "testing"

// Each row of the tables says what it stands for, and why.
func TestRowsSayWhy(t *testing.T) {
	for _, table := range []map[string]mapping{resources, dataSources} {
		for kind, m := range table {
			if m.why == "" || m.item == "" && m.written == nil {
				t.Errorf("the row of %s says neither what nor why", kind)
			}
		}
	}
}
