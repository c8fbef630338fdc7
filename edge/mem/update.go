package mem

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/exactjson"
)

// update returns the rule that live becomes by a request body, or what is
// wrong with the body. It changes nothing.
func (b behaviour) update(live edge.Rule, body []byte) (edge.Rule, []edge.ErrorDetail) {
	members, err := object(body)
	if err != nil {
		return edge.Rule{}, []edge.ErrorDetail{notAnObject(err)}
	}
	problems := checkShape(members)
	if b.merge {
		if members, err = mergeInto(live, members); err != nil {
			return edge.Rule{}, []edge.ErrorDetail{{Message: exactjson.Reason(err, "the rule")}}
		}
	}
	if problems = append(problems, checkRequired(members)...); len(problems) > 0 {
		return edge.Rule{}, problems
	}
	var next edge.Rule
	if err := recode(members, &next); err != nil {
		return edge.Rule{}, []edge.ErrorDetail{{Message: exactjson.Reason(err, "the rule")}}
	}
	if b.ignore {
		return live, nil
	}
	return next, nil
}

// mergeInto is the update of a server that merges: members that the body leaves
// out keep, objects merge, arrays replace as a whole. A null says nothing, so
// that nothing can be removed by one.
func mergeInto(live edge.Rule, body map[string]any) (map[string]any, error) {
	data, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	members, err := object(data)
	if err != nil {
		return nil, err
	}
	merge(members, body)
	return members, nil
}

func merge(into, from map[string]any) {
	for name, value := range from {
		if value == nil {
			continue
		}
		have, isHere := into[name].(map[string]any)
		more, isObject := value.(map[string]any)
		if isHere && isObject {
			merge(have, more)
			continue
		}
		into[name] = value
	}
}

// object decodes exactly one JSON object, numbers kept as they are written.
func object(data []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return nil, err
	}
	if members == nil {
		return nil, errNull
	}
	if decoder.More() {
		return nil, errTrailing
	}
	return members, nil
}

func recode(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// nextVersion adds 1 to a version, a decimal number carried as text.
func nextVersion(version string) string {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return "1"
	}
	return strconv.FormatUint(n+1, 10)
}
