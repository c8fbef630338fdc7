package shell

import "strings"

// options are those of a client that take a value: one-letter ones, and long ones. All
// others stand alone.
type options struct {
	short string
	long  map[string]bool
}

// each goes through a command line: f gets an option's name without its hyphens and its
// value, and an argument with an empty name.
func (o options) each(args []string, f func(name, value string)) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		next := func() (value string) {
			if len(args) > 0 {
				value, args = args[0], args[1:]
			}
			return value
		}
		long, isLong := strings.CutPrefix(arg, "--")
		switch {
		case len(arg) < 2 || arg[0] != '-':
			f("", arg)
		case isLong:
			name, value, given := strings.Cut(long, "=")
			if !given && o.long[name] {
				value = next()
			}
			f(name, value)
		default:
			o.letters(arg[1:], next, f)
		}
	}
}

// letters are one-letter options behind one hyphen; the last may have its value behind it,
// as in -XPOST, or take the next argument.
func (o options) letters(text string, next func() string, f func(name, value string)) {
	for i := range len(text) {
		letter := text[i : i+1]
		if !strings.Contains(o.short, letter) {
			f(letter, "")
			continue
		}
		value := text[i+1:]
		if value == "" {
			value = next()
		}
		f(letter, value)
		return
	}
}
