// Package expression reads the language in which rules say which requests they match.
//
//	e, err := expression.Parse(`http.host eq "shop.example" and not ip.src in $office`)
//
// [Parse] knows the grammar: it is that of the vendor's published engine, which reads without
// tokens and knows the type of each field while it does. This parser does not know the fields, so
// it takes a little more; [Check] finds the rest: unknown fields and functions, types that do not
// fit, and what a phase or a plan does not have. The tables of fields and functions are data, each
// row with its source. [Findings] are no mistakes: the same condition twice, or an address that no
// client has. [Explain] says in words what an expression means.
//
// A place is an offset in bytes. The package imports nothing of Seawall but the search for the
// nearest word: it knows neither rules nor rulesets.
package expression
