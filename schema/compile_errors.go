package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// compileError makes the library's error stable and says where in the document it is.
func compileError(tree any, err error) error {
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok { // it does not unwrap
		return load.Err
	}
	if refused, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		return refusedSchema(tree, refused.Err)
	}
	return fmt.Errorf("schema: %s", strings.ReplaceAll(err.Error(), baseURL, ""))
}

var english = message.NewPrinter(language.English)

// refusedSchema is the error for a schema that JSON Schema itself does not allow, with all places.
func refusedSchema(tree any, of error) error {
	var lines []string
	var note func(*jsonschema.ValidationError)
	note = func(wrong *jsonschema.ValidationError) {
		if wrong.Causes == nil {
			at := fault.Issue{Pointer: canon.Pointer(wrong.InstanceLocation...)}
			lines = append(lines, at.Place()+": "+clip(wrong.ErrorKind.LocalizedString(english)))
		}
		for _, cause := range wrong.Causes {
			note(cause)
		}
	}
	if wrong, ok := errors.AsType[*jsonschema.ValidationError](of); ok {
		note(wrong)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	said := strings.Join(lines[:min(len(lines), maxIssues)], "; ")
	if root, _ := tree.(map[string]any); root["$schema"] == nil {
		said += " (without $schema it is a schema of draft 2020-12)"
	}
	return errors.New("schema: " + said)
}
