package wire

import "encoding/json"

// The functions below change one place in a JSON text and leave alone what they
// do not know. A text of another shape than they look for comes back unchanged.

// changeMember changes the value of one member of an object.
func changeMember(object []byte, name string, change func([]byte) []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members[name] == nil {
		return object
	}
	members[name] = change(members[name])
	return encoded(members, object)
}

// changeElements changes each element of an array.
func changeElements(array []byte, change func([]byte) []byte) []byte {
	var elements []json.RawMessage
	if json.Unmarshal(array, &elements) != nil || elements == nil {
		return array
	}
	for i := range elements {
		elements[i] = change(elements[i])
	}
	return encoded(elements, array)
}

// changeKeys renames the members of an object and changes their values; change
// may be nil. No two names may become one.
func changeKeys(object []byte, rename func(string) string, change func([]byte) []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		return object
	}
	renamed := make(map[string]json.RawMessage, len(members))
	for name, value := range members {
		if change != nil {
			value = change(value)
		}
		renamed[rename(name)] = value
	}
	return encoded(renamed, object)
}

func encoded(value any, fallback []byte) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		return fallback
	}
	return data
}
