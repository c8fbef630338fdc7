package redact_test

import (
	"bytes"
	"testing"

	"github.com/seawall-dev/seawall/edge/redact"
)

// What was said comes back, in whatever form, and nothing more.
func TestWriterBut(t *testing.T) {
	const secret = "glpat-Zx8Qp2xLr7Tz4Yn6Wk9Bd3"
	r := redact.New(10)
	r.Add(secret)
	r.Add("%20%20%20%20%20%20%20%20")
	for _, c := range []struct{ said, text, want string }{
		{"", "it is " + secret, "it is [secret]"},
		{"a", "it is " + secret, "it is [secret]"},
		{"glpat-Zx8Qp2", "no glpat-Zx8Qp2 here", "no glpat-Zx8Qp2 here"},
		{"GLPAT-zx8qp2", "no glpat-Zx8Qp2 here", "no glpat-Zx8Qp2 here"},
		{"glpat%2DZx8Qp2", "no &#103;lpat-Zx8Qp2 here", "no &#103;lpat-Zx8Qp2 here"},
		{"676c7061742d", "no 676c7061742d here", "no 676c7061742d here"},
		{"glpat-Zx8Qp2", "no glpat-Zx8Qp2 but " + secret, "no glpat-Zx8Qp2 but [secret]"},
		{"glpat-Zx8Qp2", "no glpat-Zx8Qp2x", "no [secret]"},
		{secret, secret, secret},
		{"x", "%20%20%20%20%20%20%20%20", "[secret]"},
	} {
		var out bytes.Buffer
		if n, err := r.WriterBut(&out, func() []string { return []string{c.said} }).Write([]byte(c.text)); n != len(c.text) || err != nil || out.String() != c.want {
			t.Errorf("%q to who has said %q: %q, want %q (%d, %v)", c.text, c.said, out.String(), c.want, n, err)
		}
	}
}
