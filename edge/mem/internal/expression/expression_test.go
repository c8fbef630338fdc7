package expression_test

import (
	"testing"

	"github.com/seawall-dev/seawall/edge/mem/internal/expression"
)

func TestCheck(t *testing.T) {
	for _, good := range []string{
		"true", "", `http.host eq "shop.example"`, `(http.host eq "a)") and not (ip.src in {192.0.2.0/24 2001:db8::/32})`,
		`http.request.uri.path matches r"^/(a|b\("`, `http.request.uri.path matches r#"a "quoted" ( "#`, `any(http.request.headers["x"][*] == "\"")`,
		`starts_with(lower(http.host), "or")`, `http.user_agent contains "and"`,
	} {
		if err := expression.Check(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"(true", "true)", "(true]", "{1 2", `http.host eq "a`, `http.host eq "a\"`, `x matches r"a`, `x matches r#"a"`, `x matches r##"a"#`,
		"true and", "not", `http.host eq`, "a or ", "(((", "}",
	} {
		if err := expression.Check(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
