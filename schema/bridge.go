package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// bridge says one rule of a value of a class in JSON Schema, or what it is not to be. A nil schema without an
// error means there are no exact words for it: the validator judges, and prose tells the model.
func bridge(r rule, t reflect.Type, c class) (*jsonschema.Schema, error) {
	switch {
	case r.compares():
		return bridgeSize(r, c)
	case r.how == "in":
		return bridgeOneOf(r, c)
	case r.how == "unique":
		return bridgeUnique(r, t, c)
	case c != classString || r.how != "/" || r.param == "" && strings.Contains(r.text, "="):
		return nil, nil
	}
	return &jsonschema.Schema{Pattern: strings.Replace(r.what, "%", regexp.QuoteMeta(r.param), 1)}, nil
}

// comparisons say those with a number, as a number and as a count. Keywords of counts have ends of their own;
// more is what is added to the number.
var comparisons = map[string]struct {
	ofNumbers, ofCounts string
	more                int64
}{
	">=": {`{"minimum":%s}`, `{"min%[2]s":%[1]d}`, 0}, ">": {`{"exclusiveMinimum":%s}`, `{"min%[2]s":%[1]d}`, 1},
	"<=": {`{"maximum":%s}`, `{"max%[2]s":%[1]d}`, 0}, "<": {`{"exclusiveMaximum":%s}`, `{"max%[2]s":%[1]d}`, -1},
	"=": {`{"const":%s}`, `{"min%[2]s":%[1]d,"max%[2]s":%[1]d}`, 0},
}

// bridgeSize says a comparison with a parameter that the validator has read.
func bridgeSize(r rule, c class) (s *jsonschema.Schema, err error) {
	says := comparisons[r.how]
	switch equals := r.how == "=" && r.tag != "len"; {
	case c == classString && equals:
		return &jsonschema.Schema{Const: r.param}, nil
	case c == classBool && equals:
		is, _ := strconv.ParseBool(r.param)
		return &jsonschema.Schema{Const: is}, nil
	case c.counted():
		n, _ := strconv.ParseInt(r.param, 0, 32)
		if n += says.more; n <= 0 && strings.HasPrefix(r.how, ">") {
			return &jsonschema.Schema{}, nil
		}
		s, err = fragment(fmt.Sprintf(says.ofCounts, n, classes[c].bounds))
	case c == classInt, c == classUint:
		n, _ := new(big.Int).SetString(r.param, 0)
		s, err = fragment(fmt.Sprintf(says.ofNumbers, n))
	case c == classFloat:
		n, _ := strconv.ParseFloat(r.param, 64)
		s, err = fragment(fmt.Sprintf(says.ofNumbers, strconv.FormatFloat(n, 'f', -1, 64)))
	}
	if err != nil {
		return nil, fmt.Errorf("validate rule %q can never hold, or always does", r.text)
	}
	return s, nil
}

// fragment reads a part of a JSON Schema.
func fragment(text string) (*jsonschema.Schema, error) {
	s := &jsonschema.Schema{}
	return s, json.Unmarshal([]byte(text), s)
}

// ofClass is a fragment that is written here.
func ofClass(text string) *jsonschema.Schema {
	s, _ := fragment(text)
	return s
}

func bridgeOneOf(r rule, c class) (*jsonschema.Schema, error) {
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
		return nil, fmt.Errorf("validate rule %q has no value that a %s can have", r.text, c)
	}
	return &jsonschema.Schema{Enum: values}, nil
}

// bridgeUnique has exact words where equal JSON means equal Go values and the other way round.
func bridgeUnique(r rule, t reflect.Type, c class) (*jsonschema.Schema, error) {
	if c != classList && c != classMap {
		return nil, nil
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
