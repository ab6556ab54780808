package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/schema"
)

// Tool is something a model may call. It never changes and is safe for concurrent use where its function is.
// The zero value is not usable: get one from [New] or [Raw].
type Tool struct {
	name        string
	description string
	schema      *schema.Schema
	jsonFunc
	// object reports that every result is a JSON object.
	object bool
	declarations
}

// jsonFunc is a tool's function behind the generic edge: arguments and results are JSON.
type jsonFunc struct {
	// run calls the function with arguments that passed the check, and what the check made of them.
	run func(ctx context.Context, args []byte, checked any) (result []byte, err error)
	// result returns a result that was given from outside as one of the function, in canonical form.
	result func(given []byte) ([]byte, error)
}

// maxName bounds a tool's name, as MCP does; some providers stop at 64. Characters that providers do not
// allow are replaced, see [ProviderName].
const maxName = 128

// isName reports whether a tool may be called name: 1 to 128 of A-Za-z0-9_./-.
func isName(name string) bool {
	odd := func(r rune) bool { return !plain(r) && r != '.' && r != '/' }
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, odd)
}

// New makes a tool of a function. Its arguments are a struct, or a map with string keys. The schema and the
// checks come from that type (see [schema.For]); fn is called with a new value that has passed the checks.
// The result becomes canonical JSON; bytes that are not UTF-8 become U+FFFD. In answer to a native call, the
// model is told a string as it is and any other result as JSON. The options say what may be done with a call
// whose outcome is not known: see [ReadOnly] and [Idempotent].
//
// The model is not shown the text of an error of fn, only that the call failed. What it is to know, fn says
// by [AskAgain] or [Fail]; [TryLater] has the call made again.
//
// New panics on a mistake of the program: a name that is not 1 to 128 of A-Za-z0-9_./-, a nil function, a
// type of arguments that has no schema, a type of results whose values have no JSON form.
func New[A, R any](
	name, description string, fn func(ctx context.Context, args A) (R, error), opts ...Option,
) *Tool {
	if !isName(name) {
		panic(fmt.Sprintf("tool.New: %v", nameError(name)))
	}
	t, err := ofFunction(fn, opts)
	if err != nil {
		panic(fmt.Sprintf("tool.New(%q): %v", name, err))
	}
	t.name, t.description = name, description
	return t
}

// ofFunction makes a tool that has no name yet.
func ofFunction[A, R any](fn func(ctx context.Context, args A) (R, error), opts []Option) (*Tool, error) {
	args, result := reflect.TypeFor[A](), reflect.TypeFor[R]()
	said, err := declare(fn == nil, args, opts)
	if err != nil {
		return nil, err
	}
	if k := args.Kind(); k != reflect.Struct && k != reflect.Map {
		what := args.String()
		if k == reflect.Pointer {
			what += ": take " + args.Elem().String()
		}
		return nil, fmt.Errorf("arguments must be a struct or a map with string keys, not %s", what)
	}
	typed, err := schema.For[A]()
	if err != nil {
		return nil, err
	}
	if err := formFault(result); err != nil {
		return nil, fmt.Errorf("the result: %w", err)
	}
	return &Tool{object: isObject(result), schema: typed.Schema(), jsonFunc: typedEdge(fn), declarations: said}, nil
}

func typedEdge[A, R any](fn func(context.Context, A) (R, error)) jsonFunc {
	return jsonFunc{
		run: func(ctx context.Context, _ []byte, checked any) ([]byte, error) {
			r, err := fn(ctx, *checked.(*A))
			if err != nil {
				return nil, err
			}
			result, err := canon.MarshalMended(r) // the call has run, so that its result is to be told
			if err != nil {
				return nil, untold(fmt.Errorf("the result has no JSON form: %w", err))
			}
			return result, nil
		},
		result: func(given []byte) ([]byte, error) {
			r := new(R)
			if err := canon.UnmarshalKnown(given, r); err != nil {
				return nil, err
			}
			return canon.Marshal(r)
		},
	}
}

// Raw makes a tool of a JSON Schema and a function from JSON to JSON. The function gets arguments that have
// passed the schema; its result must be JSON too. The type of the schema must be object, or it gives none:
// then the function may get any JSON that passes. The options are those of [New].
//
// The error names the tool, and the place in the schema that is wrong.
func Raw(
	name, description string, parameters []byte,
	fn func(ctx context.Context, args json.RawMessage) (json.RawMessage, error), opts ...Option,
) (*Tool, error) {
	if !isName(name) {
		return nil, fmt.Errorf("tool: %w", nameError(name))
	}
	said, err := declare(fn == nil, reflect.TypeFor[json.RawMessage](), opts)
	if err != nil {
		return nil, fmt.Errorf("tool %q: %w", name, err)
	}
	if len(parameters) == 0 {
		return nil, fmt.Errorf(`tool %q: parameters: are empty: give a JSON Schema, such as {"type": "object"}`, name)
	}
	s, err := schema.Compile(parameters)
	if err != nil {
		return nil, fmt.Errorf("tool %q: parameters: %w", name, err)
	}
	if text := s.JSON(); len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("tool %q: parameters must be a JSON Schema object", name)
	} else if !takesObjects(text) {
		return nil, fmt.Errorf("tool %q: parameters: type: must be \"object\", for arguments are an object",
			name)
	}
	return &Tool{
		name: name, description: description, schema: s, jsonFunc: rawEdge(fn), declarations: said,
	}, nil
}

// takesObjects reports whether a schema's own type, if it has one, includes objects.
func takesObjects(text []byte) bool {
	var top struct {
		Type any `json:"type"`
	}
	_ = canon.Unmarshal(text, &top) // cannot fail: it was compiled
	several, _ := top.Type.([]any)
	return top.Type == nil || top.Type == "object" || slices.Contains(several, any("object"))
}

func rawEdge(fn func(context.Context, json.RawMessage) (json.RawMessage, error)) jsonFunc {
	run := func(ctx context.Context, args []byte, _ any) ([]byte, error) {
		r, err := fn(ctx, slices.Clone(args))
		if err != nil {
			return nil, err
		}
		if len(r) == 0 {
			return []byte("null"), nil
		}
		result, err := canon.JSON(r)
		if err != nil {
			return nil, untold(fmt.Errorf("the result is not JSON: %w", err))
		}
		return result, nil
	}
	return jsonFunc{run, canon.JSON}
}

// untold returns the error of a call that has run and whose result cannot be told. The model is told that it
// ran.
func untold(err error) error {
	return errors.Join(&FailedError{Text: "the call has run, but its result cannot be shown"}, err)
}

func nameError(name string) error {
	return fmt.Errorf("tool name %q must be 1 to 128 of the characters A-Z a-z 0-9 _ . / -", name)
}

// Name returns the name the tool is registered and recorded by.
func (t *Tool) Name() string { return t.name }

// Description says to the model what the tool does.
func (t *Tool) Description() string { return t.description }

// ReturnsObject reports whether every result is a JSON object, by the type of the results; false if the type
// does not say, as for [Raw].
func (t *Tool) ReturnsObject() bool { return t.object }

// isObject reports whether every value of a type is a JSON object.
func isObject(t reflect.Type) bool { return !hasOwnForm(t) && t.Kind() == reflect.Struct }

// Schema returns the schema of the arguments.
func (t *Tool) Schema() *schema.Schema { return t.schema }

// Parameters returns the JSON Schema of the arguments, for the model. The slice is the caller's own.
func (t *Tool) Parameters() []byte { return t.schema.JSON() }

// Check reports everything that is wrong with arguments, in canonical order; nil means they can be used.
func (t *Tool) Check(args []byte) []fault.Issue { return t.schema.Check(args) }

// Result checks a result of the tool that somebody else gives, such as a person who knows what a call has
// done, and returns it as canonical JSON. The error says what is wrong with it; the values of [Raw] may be
// any JSON.
func (t *Tool) Result(given []byte) ([]byte, error) {
	result, err := t.jsonFunc.result(given)
	if err != nil {
		return nil, fmt.Errorf("tool %q: the result: %w", t.name, err)
	}
	return result, nil
}

// WithLimits returns a copy of the tool with other limits for arguments than [schema.DefaultLimits].
func (t *Tool) WithLimits(l schema.Limits) (*Tool, error) {
	s, err := t.schema.WithLimits(l)
	if err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.name, err)
	}
	c := *t
	c.schema = s
	return &c, nil
}
