package login

import (
	"fmt"
	"testing"
)

// TestGrants: whom a rule means.
func TestGrants(t *testing.T) {
	rules := []Rule{
		{Grant: Grant{Role: "0"}, Users: []string{"ada"}},
		{Grant: Grant{Role: "1"}, Users: []string{"oidc:ada"}},
		{Grant: Grant{Role: "2"}, Groups: []string{"ops", "certificate:ops"}},
		{Grant: Grant{Role: "3"}, Groups: []string{"proxy:ops"}},
		{Grant: Grant{Role: "4"}, Users: []string{Everyone}},
		{Grant: Grant{Role: "5"}, Users: []string{"ops"}, Groups: []string{"ada"}},
		{Grant: Grant{Role: "6"}, Users: []string{"spiffe://example.com/ci", "mailto:x"}},
		{Grant: Grant{Role: "7"}},
	}
	for name, test := range map[string]struct {
		who  Identity
		want string
	}{
		"a user":               {Identity{ByOIDC, "ada", nil}, "[0 1 4]"},
		"by another way":       {Identity{ByProxy, "ada", nil}, "[0 4]"},
		"a group":              {Identity{ByProxy, "bob", []string{"x", "ops"}}, "[2 3 4]"},
		"by a certificate":     {Identity{ByCertificate, "bob", []string{"ops"}}, "[2 4]"},
		"the name of another":  {Identity{ByProxy, "oidc:ada", nil}, "[4]"},
		"its own prefix":       {Identity{ByOIDC, "oidc:ada", nil}, "[4]"},
		"a group of another":   {Identity{ByOIDC, "bob", []string{"proxy:ops"}}, "[4]"},
		"in another case":      {Identity{ByOIDC, "Ada", []string{"OPS"}}, "[4]"},
		"a user like a group":  {Identity{ByOIDC, "ops", nil}, "[4 5]"},
		"a group like a user":  {Identity{ByOIDC, "bob", []string{"ada"}}, "[4 5]"},
		"a URI":                {Identity{ByCertificate, "spiffe://example.com/ci", nil}, "[4 6]"},
		"a beginning of a URI": {Identity{ByCertificate, "spiffe", nil}, "[4]"},
	} {
		var roles []Role
		for _, g := range grants(rules, test.who) {
			roles = append(roles, g.Role)
		}
		if got := fmt.Sprint(roles); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
