package schema

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// compileError makes the library's error stable and says where in the document it is.
func compileError(tree any, err error) error {
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok { // it does not unwrap
		if root, _ := tree.(map[string]any); strings.TrimSuffix(textOf(root["$schema"]), "#") == load.URL {
			return fmt.Errorf("schema: $schema: expected a draft of JSON Schema, 4 to 2020-12, not %q: leave it out for 2020-12", load.URL)
		}
		return load.Err
	}
	if pointer, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return nothingThere(pointer.URL)
	}
	if anchor, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return nothingThere(anchor.Reference)
	}
	if twice, ok := errors.AsType[*jsonschema.DuplicateAnchorError](err); ok {
		return namedTwice(twice.Anchor, twice.Ptr1, twice.Ptr2)
	}
	if twice, ok := errors.AsType[*jsonschema.DuplicateIDError](err); ok {
		return namedTwice(twice.ID, twice.Ptr1, twice.Ptr2)
	}
	if _, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		return refusedSchema(tree)
	}
	return fmt.Errorf("schema: %s", strings.ReplaceAll(err.Error(), baseURL, ""))
}

func nothingThere(ref string) error {
	return fmt.Errorf("schema: $ref %q: the document has nothing there", strings.TrimPrefix(ref, baseURL))
}

// namedTwice returns the error for two schemas of one name, whose places the library gives in any order.
func namedTwice(name, one, other string) error {
	return fmt.Errorf("schema: two subschemas are named %q: %s and %s", strings.TrimPrefix(name, "retake:///"),
		min(one, other), max(one, other))
}

// goRegexp is what the patterns of a schema must be.
const goRegexp = "a regular expression in Go's syntax, which has no lookarounds but lookaheads right after ^ at its start, " +
	"no back-references, and repeats at most 1,000 times"

// refusedSchema returns the error for a schema that JSON Schema itself does not allow, with all places.
func refusedSchema(tree any) error {
	var lines []string
	for _, i := range byItself(tree) {
		lines = append(lines, refusedPlace(tree, i))
	}
	if lines == nil {
		return errors.New("schema: JSON Schema does not allow it")
	}
	return fmt.Errorf("schema: %s", strings.Join(lines, "; "))
}

// byItself checks a schema document against the metaschema of its draft.
func byItself(tree any) []fault.Issue {
	draft := "https://json-schema.org/draft/2020-12/schema"
	if root, ok := tree.(map[string]any); ok && root["$schema"] != nil {
		draft = textOf(root["$schema"])
	}
	meta := &Schema{limits: documentLimits}
	if meta.compile(map[string]any{"$ref": draft}, true) != nil {
		return nil
	}
	return meta.Check([]byte(jsonText(tree)))
}

// ofDrafts are hints for values that one draft of JSON Schema allows and another does not.
var ofDrafts = []struct {
	keyword string
	allowed func(any) bool
	hint    string
}{
	{"items", isList, "a list is for drafts up to 2019-09: name one in $schema, or call it prefixItems"},
	{"exclusiveMinimum", isBool, "a boolean is for draft 4: name that in $schema, or give the bound itself"},
	{"exclusiveMaximum", isBool, "a boolean is for draft 4: name that in $schema, or give the bound itself"},
	{"required", isBool, "an object lists the names of those of its members"},
	{"type", isUpper, "types are written in lower case"},
}

func isList(v any) bool { _, ok := v.([]any); return ok }
func isBool(v any) bool { _, ok := v.(bool); return ok }

func isUpper(v any) bool { return kindsOf[strings.ToLower(textOf(v))] != kindsOf[textOf(v)] }

// refusedPlace returns the text of one issue of a schema document.
func refusedPlace(tree any, i fault.Issue) string {
	i.Got = ""
	name := path.Base(i.Pointer)
	value, _ := canon.At(tree, canon.Path(i.Pointer))
	for _, of := range ofDrafts {
		if of.keyword == name && of.allowed(value) {
			return fmt.Sprintf("%s: expected %s (%s)", i.Place(), i.Expected, of.hint)
		}
	}
	switch {
	case i.Rule == "propertyNames": // of patternProperties
		return fmt.Sprintf("%s: expected a member name that is %s", i.Place(), goRegexp)
	case i.Rule == "format" && name == "pattern":
		return fmt.Sprintf("%s: expected %s", i.Place(), goRegexp)
	case i.Expected != "":
		return i.String()
	case i.Rule == "format":
		return i.Place() + ": expected a URI reference"
	}
	return fmt.Sprintf("%s: JSON Schema does not allow that value here (%s)", i.Place(), i.Rule)
}
