package schema

import (
	"encoding"
	stdjson "encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// class sorts Go types by the JSON they are read from.
type class uint8

const (
	classInvalid class = iota // cannot be read from JSON
	classString
	classInt
	classUint
	classFloat
	classBool
	classBytes
	classList
	classMap
	classStruct
	classAny
	classText   // a string read by the type's own UnmarshalText
	classOpaque // read by a method of the type
)

// classes say of each class its type in JSON Schema, the kinds of values that have this type, what its length
// counts, and the end of the names of the keywords that bound the count; also what its zero value is, in JSON
// Schema, and what no zero value is. What has no kinds reads its values itself.
var classes = [...]struct {
	jsonType       string
	kinds          kind
	counts, bounds string
	zero, other    string
}{
	classString: {"string", kindString, "character", "Length", `{"const":""}`, `{"minLength":1}`},
	classBool:   {"boolean", kindBoolean, "", "", `{"const":false}`, `{"const":true}`},
	classInt:    {"integer", kindInteger, "", "", zeroNumber, otherNumber},
	classUint:   {"integer", kindInteger, "", "", zeroNumber, otherNumber},
	classFloat:  {"number", kindInteger | kindNumber, "", "", zeroNumber, otherNumber},
	classList:   {"array", kindArray, "item", "Items", nothing, ""},
	classMap:    {"object", kindObject, "member", "Properties", nothing, ""},
	classStruct: {"object", kindObject, "", "", nothing, `{"minProperties":1}`},
	classBytes:  {"string", 0, "byte", "", nothing, ""},
	classText:   {"string", 0, "", "", "{}", ""},
	classAny:    {"", 0, "", "", nothing, ""},
	classOpaque: {"", 0, "", "", "{}", ""},
}

const (
	zeroNumber  = `{"const":0}`
	otherNumber = `{"not":{"const":0}}`
	nothing     = `{"not":{}}`
)

// jsonType returns the type's name in JSON Schema; empty where it has none.
func (c class) jsonType() string { return classes[c].jsonType }

var (
	timeType       = reflect.TypeFor[time.Time]()
	durationType   = reflect.TypeFor[time.Duration]()
	urlType        = reflect.TypeFor[url.URL]()
	numberType     = reflect.TypeFor[stdjson.Number]()
	rawMessageType = reflect.TypeFor[stdjson.RawMessage]()
	rawValueType   = reflect.TypeFor[jsontext.Value]()
	fromType       = reflect.TypeFor[json.UnmarshalerFrom]()
	unmarshalType  = reflect.TypeFor[json.Unmarshaler]()
	textType       = reflect.TypeFor[encoding.TextUnmarshaler]()
	issuerType     = reflect.TypeFor[issuer]()
)

var classesOfKinds = [...]class{
	reflect.String: classString, reflect.Bool: classBool, reflect.Float32: classFloat,
	reflect.Float64: classFloat,
	reflect.Int:     classInt, reflect.Int8: classInt, reflect.Int16: classInt, reflect.Int32: classInt,
	reflect.Int64: classInt,
	reflect.Uint:  classUint, reflect.Uint8: classUint, reflect.Uint16: classUint, reflect.Uint32: classUint,
	reflect.Uint64: classUint,
	reflect.Slice:  classList, reflect.Array: classList, reflect.Map: classMap, reflect.Struct: classStruct,
	reflect.UnsafePointer: classInvalid,
}

// classOf sorts a type that is no pointer; classInvalid for what JSON cannot be read into.
func classOf(t reflect.Type) class {
	switch {
	case t == rawMessageType || t == rawValueType:
		return classAny
	case t == timeType:
		return classText
	case t == durationType || t == urlType || t == numberType || t.Kind() == reflect.Interface && t.NumMethod() > 0:
		return classInvalid
	case has(t, fromType) || has(t, unmarshalType):
		return classOpaque
	case has(t, textType):
		return classText
	case t.Kind() == reflect.Interface:
		return classAny
	}
	return classOfKind(t)
}

// classOfKind sorts a type by its kind, as the validator does: without a look at its methods.
func classOfKind(t reflect.Type) class {
	if (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() == reflect.Uint8 {
		return classBytes
	}
	return classesOfKinds[t.Kind()]
}

func has(t, method reflect.Type) bool {
	return t.Implements(method) || reflect.PointerTo(t).Implements(method)
}

func (c class) numeric() bool { return c == classInt || c == classUint || c == classFloat }

// counted reports whether lengths and not values are compared.
func (c class) counted() bool { return classes[c].bounds != "" }

// mostWithin is how many pointers, lists and maps may be within one another.
const mostWithin = 64

// hasNoEnd returns an error for a pointer, list or map of itself: as a schema it would have no end.
func hasNoEnd(t reflect.Type) error {
	in := t
	for range mostWithin {
		c := classOf(in)
		if in.Kind() != reflect.Pointer && c != classList && c != classMap {
			return nil
		}
		in = in.Elem()
	}
	return fmt.Errorf("%s is a pointer, list or map of itself: put a struct between", t)
}

func indirect(t reflect.Type) (base reflect.Type, pointer bool) {
	for t.Kind() == reflect.Pointer {
		t, pointer = t.Elem(), true
	}
	return t, pointer
}
