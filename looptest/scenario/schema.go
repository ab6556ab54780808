package scenario

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// schemaOf reads a schema: JSON Schema as it is, or the short form "city: string; nights: integer 1..30,
// optional".
func schemaOf(text string) ([]byte, error) {
	if strings.HasPrefix(text, "{") {
		return []byte(text), nil
	}
	var members, required []string
	for _, field := range split(text, ";\n") {
		name, spec, ok := strings.Cut(field, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is no member: write name: type", strings.TrimSpace(field))
		}
		kind, mark, _ := strings.Cut(spec, ",")
		switch mark = strings.TrimSpace(mark); mark {
		case "", "required":
			required = append(required, quoted(name))
		case "optional":
		default:
			return nil, fmt.Errorf("%s: %q is neither required nor optional", name, mark)
		}
		s, err := typeOf(strings.TrimSpace(kind))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		members = append(members, quoted(name)+": "+s)
	}
	return fmt.Appendf(nil, `{"type": "object", "additionalProperties": false, "properties": {%s}, "required": [%s]}`,
		strings.Join(members, ", "), strings.Join(required, ", ")), nil
}

var (
	plainType = regexp.MustCompile(`^(string|integer|number|boolean|object)$`)
	rangeType = regexp.MustCompile(`^(integer|number) (-?\d+)?\.\.(-?\d+)?$`)
)

// typeOf is one type of the short form as JSON Schema.
func typeOf(kind string) (string, error) {
	if of, ok := strings.CutPrefix(kind, "list of "); ok {
		items, err := typeOf(of)
		return fmt.Sprintf(`{"type": "array", "items": %s}`, items), err
	}
	if plainType.MatchString(kind) {
		return fmt.Sprintf(`{"type": %s}`, quoted(kind)), nil
	}
	if m := rangeType.FindStringSubmatch(kind); m != nil {
		s := `{"type": ` + quoted(m[1])
		if m[2] != "" {
			s += `, "minimum": ` + m[2]
		}
		if m[3] != "" {
			s += `, "maximum": ` + m[3]
		}
		return s + "}", nil
	}
	if choices := strings.Split(kind, "|"); len(choices) > 1 {
		for n, c := range choices {
			choices[n] = quoted(strings.TrimSpace(c))
		}
		return fmt.Sprintf(`{"enum": [%s]}`, strings.Join(choices, ", ")), nil
	}
	return "", fmt.Errorf("%q is no type: write string, integer, integer 1..30, number, boolean, object, "+
		"red|green or list of string", kind)
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}
