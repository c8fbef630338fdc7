package page

import "reflect"

// Row is a row of the table of resources, for the tests of its description.
type Row struct {
	API    string
	Fleet  bool
	Of     reflect.Type
	Params []Param
}

// Param is a parameter of a row.
type Param struct {
	Name, Help string
	Repeat     bool
}

// Rows are the table of resources.
func Rows() (rows []Row) {
	for _, r := range resources {
		row := Row{API: apiPath + r.api, Fleet: r.fleet, Of: r.answer.of}
		for _, p := range r.params {
			row.Params = append(row.Params, Param{p.name, p.help, p.repeat})
		}
		rows = append(rows, row)
	}
	return rows
}

// Action is a row of the table of actions.
type Action struct {
	Name       string
	Takes, May []string
	Fleet      bool
}

// AllActions are the table of actions.
func AllActions() (all []Action) {
	for _, a := range actions {
		all = append(all, Action{a.name, a.takes, a.may, a.fleet})
	}
	return all
}
