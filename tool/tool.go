package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/schema"
)

// Tool is something a model may call. It never changes and is safe for concurrent use where its function is. The zero value
// is not usable: get one from [New] or [Raw].
type Tool struct {
	name        string
	description string
	schema      *schema.Schema
	limits      schema.Limits
	maker       maker
	declared    Declared
}

// maker checks arguments within some limits, and makes calls of good ones: behind the generic edge, arguments and results are
// JSON.
type maker interface {
	// read makes a call of arguments as they were written. form is their canonical form; nil where they have none.
	read(text string, work *schema.Budget) (r *Ready, form []byte, issues []fault.Issue)
	// decode makes a call of arguments in canonical form.
	decode(args []byte) (call, []fault.Issue)
	// within is the same within other limits.
	within(l schema.Limits) (maker, error)
}

// call is arguments that were found good, and the function that they are for: to be run once, for the value that was made of
// them is the function's own from then on.
type call interface {
	run(ctx context.Context) ([]byte, error)
}

// maxName bounds a tool's name. The bound is that of MCP (some providers stop at 64); what providers do not allow of the rest
// goes under an alias, see [Set.ProviderName].
const maxName = 128

// isName reports whether a tool may be called name: 1 to 128 of A-Za-z0-9_./-.
func isName(name string) bool {
	odd := func(r rune) bool { return !plain(r) && r != '.' && r != '/' }
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, odd)
}

// New makes a tool of a function. Its arguments are a struct, or a map with string keys; the schema and the checks come from
// that type (see [schema.For]), and fn is called with a fresh value that has passed them. Its result becomes canonical
// JSON. The options declare what may be done with a call whose outcome is not known: see [ReadOnly] and [Idempotent].
//
// New panics on a mistake of the program: a name that is not 1 to 128 of A-Za-z0-9_./-, a nil function, a type that has no
// schema.
func New[A, R any](name, description string, fn func(ctx context.Context, args A) (R, error), opts ...Option) *Tool {
	if !isName(name) {
		panic(fmt.Sprintf("tool.New: %v", nameError(name)))
	}
	if fn == nil {
		panic(fmt.Sprintf("tool.New(%q): the function is nil", name))
	}
	t := reflect.TypeFor[A]()
	if k := t.Kind(); k != reflect.Struct && k != reflect.Map {
		panic(fmt.Sprintf("tool.New(%q): arguments must be a struct or a map with string keys, not %s", name, t))
	}
	typed, err := schema.For[A]()
	if err != nil {
		panic(fmt.Sprintf("tool.New(%q): %v", name, err))
	}
	m := &typedMaker[A, R]{typed, fn}
	made := &Tool{name: name, description: description, schema: typed.Schema(), limits: schema.DefaultLimits(), maker: m}
	made.declare(opts)
	return made
}

type typedMaker[A, R any] struct {
	typed *schema.Typed[A]
	fn    func(context.Context, A) (R, error)
}

// typedCall is a call, and that it is ready: one allocation.
type typedCall[A, R any] struct {
	Ready
	by   *typedMaker[A, R]
	args A
}

func (m *typedMaker[A, R]) read(text string, work *schema.Budget) (*Ready, []byte, []fault.Issue) {
	c := &typedCall[A, R]{by: m}
	form, issues := m.typed.Read(text, work, &c.args)
	if len(issues) > 0 {
		return nil, form, issues
	}
	c.Ready.args, c.Ready.call = form, c
	return &c.Ready, form, nil
}

func (m *typedMaker[A, R]) decode(args []byte) (call, []fault.Issue) {
	a, issues := m.typed.Decode(args)
	if len(issues) > 0 {
		return nil, issues
	}
	return &typedCall[A, R]{by: m, args: a}, nil
}

func (m *typedMaker[A, R]) within(l schema.Limits) (maker, error) {
	bounded, err := m.typed.WithLimits(l)
	return &typedMaker[A, R]{bounded, m.fn}, err
}

func (c *typedCall[A, R]) run(ctx context.Context) ([]byte, error) {
	r, err := c.by.fn(ctx, c.args)
	if err != nil {
		return nil, err
	}
	result, err := canon.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("the result has no JSON form: %w", err)
	}
	return result, nil
}

// Raw makes a tool of a JSON Schema, which must describe an object, and a function from JSON to JSON. The function gets arguments
// that have passed the schema; its result must be JSON too. The options are those of [New].
//
// The error names the tool, and the place in the schema that is wrong.
func Raw(name, description string, parameters []byte, fn func(ctx context.Context, args json.RawMessage) (json.RawMessage, error), opts ...Option) (*Tool, error) {
	if !isName(name) {
		return nil, fmt.Errorf("tool: %w", nameError(name))
	}
	if fn == nil {
		return nil, fmt.Errorf("tool %q: the function is nil", name)
	}
	s, err := schema.Compile(parameters)
	if err != nil {
		return nil, fmt.Errorf("tool %q: parameters: %w", name, err)
	}
	if text := s.JSON(); len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("tool %q: parameters must be a JSON Schema object", name)
	} else if !takesObjects(text) {
		return nil, fmt.Errorf("tool %q: parameters: type: must be \"object\", for arguments are an object", name)
	}
	made := &Tool{name: name, description: description, schema: s, limits: schema.DefaultLimits(), maker: rawMaker{s, fn}}
	made.declare(opts)
	return made, nil
}

// takesObjects reports whether the type that a good schema says at its top, if any, lets objects pass.
func takesObjects(text []byte) bool {
	var top map[string]any
	if json.Unmarshal(text, &top) != nil || top["type"] == nil || top["type"] == "object" {
		return true
	}
	several, _ := top["type"].([]any)
	return slices.Contains(several, any("object"))
}

type rawMaker struct {
	schema *schema.Schema
	fn     func(context.Context, json.RawMessage) (json.RawMessage, error)
}

type rawCall struct {
	fn   func(context.Context, json.RawMessage) (json.RawMessage, error)
	args []byte
}

func (m rawMaker) read(text string, work *schema.Budget) (*Ready, []byte, []fault.Issue) {
	form, issues := m.schema.Read(text, work)
	if len(issues) > 0 {
		return nil, form, issues
	}
	return &Ready{args: form, call: rawCall{m.fn, form}}, form, nil
}

func (m rawMaker) decode(args []byte) (call, []fault.Issue) {
	if issues := m.schema.Check(args); len(issues) > 0 {
		return nil, issues
	}
	return rawCall{m.fn, args}, nil
}

func (m rawMaker) within(l schema.Limits) (maker, error) {
	bounded, err := m.schema.WithLimits(l)
	return rawMaker{bounded, m.fn}, err
}

func (c rawCall) run(ctx context.Context) ([]byte, error) {
	r, err := c.fn(ctx, slices.Clone(c.args))
	if err != nil {
		return nil, err
	}
	if len(r) == 0 {
		return []byte("null"), nil
	}
	result, err := canon.JSON(r)
	if err != nil {
		return nil, fmt.Errorf("the result is not JSON: %w", err)
	}
	return result, nil
}

func nameError(name string) error {
	return fmt.Errorf("tool name %q must be 1 to 128 of the characters A-Z a-z 0-9 _ . / -", name)
}

// Name is the name the tool is registered and recorded by.
func (t *Tool) Name() string { return t.name }

// Description says to the model what the tool does.
func (t *Tool) Description() string { return t.description }

// Schema is the schema of the arguments.
func (t *Tool) Schema() *schema.Schema { return t.schema }

// Parameters is the JSON Schema of the arguments, for the model. The slice is the caller's own.
func (t *Tool) Parameters() []byte { return t.schema.JSON() }

// Check reports everything that is wrong with arguments, in canonical order; nil means they can be used.
func (t *Tool) Check(args []byte) []fault.Issue { return t.schema.Check(args) }

// WithLimits returns a copy of the tool whose arguments are held to other bounds than 1 MiB and 64 levels.
func (t *Tool) WithLimits(l schema.Limits) (*Tool, error) {
	s, err := t.schema.WithLimits(l)
	if err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.name, err)
	}
	c := *t
	c.schema, c.limits = s, l
	if c.maker, err = t.maker.within(l); err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.name, err)
	}
	return &c, nil
}
