package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// bridge says one rule of a value of a class in JSON Schema, or what it is not to be. A nil schema without an
// error means there are no exact words for it: the validator judges, and prose tells the model.
func bridge(r *rule, t reflect.Type, c class) (*jsonschema.Schema, error) {
	pattern := r.pattern(r.param)
	switch {
	case r.compares():
		return bridgeSize(r, c)
	case r.how == "in" && (t.Kind() != reflect.String || c == classString):
		return bridgeOneOf(r, t, c)
	case r.how == "unique":
		return bridgeUnique(r, t, c)
	case c != classString || pattern == "" || r.param == "" && strings.Contains(r.text, "="):
		return nil, nil
	}
	return &jsonschema.Schema{Pattern: pattern}, nil
}

func bridgeSize(r *rule, c class) (*jsonschema.Schema, error) {
	equals := r.how == "=" && r.tag != "len"
	switch {
	case c == classString && equals:
		return &jsonschema.Schema{Const: r.param}, nil
	case c == classBool && equals:
		b, _ := strconv.ParseBool(r.param) // cannot fail: the validator has tried it
		return &jsonschema.Schema{Const: b}, nil
	case c.counted():
		return bridgeCount(r, c)
	case c == classInt, c == classUint:
		n, _ := new(big.Int).SetString(r.param, 0) // likewise
		return boundary(r.how, json.Number(n.String())), nil
	case c == classFloat:
		f, err := strconv.ParseFloat(r.param, 64)
		if err != nil || f-f != 0 {
			return nil, fmt.Errorf("validate rule %q: want a finite number", r.text)
		}
		return boundary(r.how, json.Number(strconv.FormatFloat(f, 'f', -1, 64))), nil
	}
	return nil, nil
}

// comparisons say those with a number: the keyword of numbers; of counts the beginning of the keyword, and
// what is added to the number. Other comparisons are equality.
var comparisons = map[string]struct {
	ofNumbers, ofCounts string
	more                int64
}{
	">=": {"minimum", "min", 0}, ">": {"exclusiveMinimum", "min", 1},
	"<=": {"maximum", "max", 0}, "<": {"exclusiveMaximum", "max", -1},
}

// boundary says a comparison with a number.
func boundary(compares string, n json.Number) *jsonschema.Schema {
	keyword := comparisons[compares].ofNumbers
	if keyword == "" {
		return &jsonschema.Schema{Const: n}
	}
	return fragment(fmt.Sprintf(`{"%s":%s}`, keyword, n))
}

func bridgeCount(r *rule, c class) (*jsonschema.Schema, error) {
	n, err := strconv.ParseInt(r.param, 0, 32)
	if err != nil {
		return nil, fmt.Errorf("validate rule %q: want a whole number", r.text)
	}
	size := comparisons[r.how]
	if n += size.more; n < 0 && size.ofCounts != "min" {
		return nil, fmt.Errorf("validate rule %q can never hold", r.text)
	}
	var bounds []string
	for _, bound := range []string{"min", "max"} {
		if cmp.Or(size.ofCounts, bound) == bound && (n > 0 || bound == "max") {
			bounds = append(bounds, fmt.Sprintf(`"%s%s":%d`, bound, classes[c].bounds, n))
		}
	}
	return fragment("{" + strings.Join(bounds, ",") + "}"), nil
}

// fragment reads a part of a JSON Schema.
func fragment(text string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	_ = json.Unmarshal([]byte(text), s) // cannot fail: all texts are made here
	return s
}

func bridgeOneOf(r *rule, t reflect.Type, c class) (*jsonschema.Schema, error) {
	var values []any
	for _, text := range r.params() {
		switch c {
		case classString:
			values = append(values, text)
		case classInt, classUint:
			if n, ok := new(big.Int).SetString(text, 10); ok && n.String() == text {
				values = append(values, json.Number(text))
			}
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("validate rule %q has no value that %s can have", r.text, t)
	}
	return &jsonschema.Schema{Enum: values}, nil
}

// bridgeUnique has exact words where equal JSON means equal Go values and the other way round.
func bridgeUnique(r *rule, t reflect.Type, c class) (*jsonschema.Schema, error) {
	if c != classList && c != classMap {
		return nil, nil
	}
	if c == classMap && r.param != "" {
		return nil, fmt.Errorf("validate rule %q compares the whole values of a map: write unique", r.text)
	}
	base, _ := indirect(t.Elem())
	compared := base
	if r.param != "" && base.Kind() == reflect.Struct {
		if f, known := base.FieldByName(r.param); known {
			compared, _ = indirect(f.Type)
		}
	}
	if !isHashable(compared) {
		return nil, fmt.Errorf("validate rule %q: %s cannot be compared", r.text, compared)
	}
	switch classOf(base) {
	case classString, classInt, classUint, classBool:
		if c == classList && r.param == "" {
			return &jsonschema.Schema{UniqueItems: true}, nil
		}
	}
	return nil, nil
}

// isHashable reports whether all values of a type can be compared: one of an interface type may be a list.
func isHashable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Array:
		return isHashable(t.Elem())
	case reflect.Struct:
		for n := range t.NumField() {
			if !isHashable(t.Field(n).Type) {
				return false
			}
		}
	}
	return t.Comparable()
}
