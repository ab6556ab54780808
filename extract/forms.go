package extract

import (
	"slices"

	"github.com/retake-go/retake/internal/syntax"
)

// Form is the stable name of one way of writing a call, or of one kind of repair. A policy can switch each
// off, by [Options.Off]: a call that needs a leniency of writing is then [Broken], and a call in a fence, in
// prose or under an alias is not read. The zero value is no form.
type Form string

// The forms a call is read by: the values of [Call.Form].
const (
	// ToolTag is a call in a tag made for calls, closed or not: <tool_call>{"name": …, "arguments":
	// …}</tool_call>.
	ToolTag Form = "tool_tag"
	// SpecialToken is a call after a model's control token: <|python_tag|>{…}, [TOOL_CALLS] [{…}].
	SpecialToken Form = "special_token"
	// FunctionTag is a tag that names the tool and holds the arguments: <function=f>{…}</function>, <invoke
	// name="f">…</invoke>.
	FunctionTag Form = "function_tag"
	// ToolCallsObject is an object with a list of calls: {"tool_calls": [{…}, {…}]}.
	ToolCallsObject Form = "tool_calls_object"
	// CallList is a list of objects that name the tool and its arguments: [{"name": …, "arguments": …}].
	CallList Form = "call_list"
	// CallObject is one such object by itself: {"name": …, "arguments": …}.
	CallObject Form = "call_object"
	// InlineArguments is an object with the arguments beside the name: {"name": "f", "a": 1}.
	InlineArguments Form = "inline_arguments"
	// NameKeyedObject is an object whose keys are tools: {"f": {"a": 1}}.
	NameKeyedObject Form = "name_keyed_object"
	// PairList is a name and an object side by side in a list or tuple: ["f", {"a": 1}].
	PairList Form = "pair_list"
	// NameThenArguments is the tool's name, then its arguments: f, a new line, {"a": 1}; "Action: f", "Action
	// Input: {…}".
	NameThenArguments Form = "name_then_arguments"
	// PythonCall is a call with keyword arguments: f(a=1).
	PythonCall Form = "python_call"
	// PythonCallObject is a call with one object as its argument: f({"a": 1}), f(**{"a": 1}).
	PythonCallObject Form = "python_call_object"
	// QuotedCall is a Python call in quotes in a list: ["f(a=1)"]. Quotes in it may be escaped, nothing else.
	QuotedCall Form = "quoted_call"
)

// Text around a call or value that was dropped.
const (
	// Prose: text before or after was dropped.
	Prose Form = "prose"
	// Fence: backticks around were dropped.
	Fence Form = "fence"
	// Tag: a tag or control token around was dropped.
	Tag Form = "tag"
)

// Readings of names and arguments.
const (
	// Alias: the written name is another spelling of the registered one.
	Alias Form = "alias"
	// StringArguments: the arguments were written as a string that holds JSON.
	StringArguments Form = "string_arguments"
	// NoArguments: a call without arguments, in a wrapper for calls, was read as {}.
	NoArguments Form = "no_arguments"
	// ExtraMember: a member beside the name and the arguments was dropped.
	ExtraMember Form = "extra_member"
	// PythonSyntax: keyword arguments of a Python call were read as an object.
	PythonSyntax Form = "python_syntax"
	// TaggedArguments: each argument was in its own tag, as in <parameter=a>1</parameter>. Such tags have no
	// types, so each value is a string here. Package tool, which knows the schema, converts it.
	TaggedArguments Form = "tagged_arguments"
	// AssignedArguments: the arguments were assigned to a variable before, as in v = {"a": 1}, f(v).
	AssignedArguments Form = "assigned_arguments"
	// WrappedArguments: the arguments were in one member that the tool's schema does not have, as in
	// f(params={"a": 1}). Package tool makes this repair, because it knows the schema.
	WrappedArguments Form = "wrapped_arguments"
	// QuotedObject: an object or array was written as JSON in a string, and the schema allows no string
	// there: {"addr": "{\"city\": \"Lisbon\"}"}. Package tool makes this repair, because it knows the schema.
	QuotedObject Form = "quoted_object"
)

// Leniencies of writing: they are not strict JSON, but have only one meaning.
const (
	// SingleQuotes: a string in single quotes.
	SingleQuotes Form = "single_quotes"
	// Apostrophe: a single quote between two letters, in a string in single quotes.
	Apostrophe Form = "apostrophe"
	// TokenQuotes: a string between control tokens, <escape> or <|"|>, as Gemma writes it.
	TokenQuotes Form = "token_quotes"
	// TripleQuotes: a string in triple quotes.
	TripleQuotes Form = "triple_quotes"
	// PythonLiteral: True, False or None.
	PythonLiteral Form = "python_literal"
	// PythonNumber: +5, .5, 5. or 1_000, respelled with the same value.
	PythonNumber Form = "python_number"
	// PythonEscape: \', \x41 or \U0001F600 in a string; a backslash before a letter that escapes nothing, in
	// single quotes.
	PythonEscape Form = "python_escape"
	// Tuple: a tuple read as an array.
	Tuple Form = "tuple"
	// TrailingComma: a comma before a closing bracket.
	TrailingComma Form = "trailing_comma"
	// Comment: a comment (#, //, /* */) between tokens.
	Comment Form = "comment"
	// UnquotedKey: a member's name without quotes.
	UnquotedKey Form = "unquoted_key"
	// RawControl: a control character, such as a line break, written raw in a string.
	RawControl Form = "raw_control"
	// MarkdownEscape: a backslash before an underscore in a name, or before a bracket, as Markdown writes it.
	MarkdownEscape Form = "markdown_escape"
)

// callForms are the forms a call is read by, in their order.
var callForms = []Form{
	ToolTag, SpecialToken, FunctionTag, ToolCallsObject, CallList, CallObject, InlineArguments,
	NameKeyedObject, PairList, NameThenArguments, PythonCall, PythonCallObject, QuotedCall,
}

// repairs are the kinds of repair, in their order, and how to write it so that they are not needed: nothing
// for those that only drop text around a call or respell a name.
var repairs = []struct {
	kind   Form
	wanted string
}{
	{Prose, ""}, {Fence, ""}, {Tag, ""}, {Alias, ""},
	{StringArguments, "arguments as an object instead of a string"},
	{NoArguments, "arguments written out, {} where there are none"},
	{ExtraMember, "nothing beside a call's name and arguments"},
	{PythonSyntax, "arguments as a JSON object instead of name=value"},
	{TaggedArguments, syntax.Tags},
	{AssignedArguments, "arguments within the call instead of a variable"},
	{WrappedArguments, "arguments without an object around them"},
	{QuotedObject, "objects and arrays themselves, not quoted"},
	{SingleQuotes, syntax.Quotes},
	{Apostrophe, syntax.Quotes},
	{TokenQuotes, syntax.Quotes},
	{TripleQuotes, syntax.Quotes},
	{PythonLiteral, syntax.PythonWords},
	{PythonNumber, syntax.Numbers},
	{PythonEscape, syntax.Escapes},
	{Tuple, syntax.Lists},
	{TrailingComma, syntax.LastComma},
	{Comment, syntax.Comments},
	{UnquotedKey, syntax.Quotes},
	{RawControl, "line breaks and control characters within strings written as escapes"},
	{MarkdownEscape, `no \ before _ and brackets`},
}

// Forms returns every name that [Options.Off] may hold, in a fixed order: first the forms a call is read by,
// then the kinds of repair. The slice is the caller's own.
func Forms() []Form {
	forms := slices.Clone(callForms)
	for _, r := range repairs {
		forms = append(forms, r.kind)
	}
	return forms
}

// Repair is one departure from strict JSON, or one piece of text that was dropped.
type Repair struct {
	// Kind is the kind of repair.
	Kind Form `json:"kind"`
	// Offset is the byte offset in the text at which it applies.
	Offset int `json:"offset"`
}

// Wanted says how to write it so that a kind of repair is not needed, as a phrase that reads after
// "expected". It is empty for those that only drop text around a call or respell a name, and for forms of
// calls.
func (k Form) Wanted() string {
	for _, r := range repairs {
		if r.kind == k {
			return r.wanted
		}
	}
	return ""
}

// Around reports whether a kind of repair only drops text around a call or respells a name.
func (k Form) Around() bool { return k.Wanted() == "" }

// Kinds returns each kind of the repairs once, in the order of its first repair.
func Kinds(repairs []Repair) (kinds []Form) {
	for _, r := range repairs {
		if !slices.Contains(kinds, r.Kind) {
			kinds = append(kinds, r.Kind)
		}
	}
	return kinds
}
