package extract

import (
	"slices"

	"github.com/retake-go/retake/internal/syntax"
)

// Form is the stable name of one way of writing a call, or of one kind of repair. A policy can switch each
// off, by [Options.Off]: a call that needs a leniency of writing is then [Broken], and a call in a fence, in
// prose or under an alias is not read. [Forms] lists all; docs/replies.md shows each way of writing a call. The
// zero value is no form.
type Form string

// The forms a call is read by: the values of [Call.Form].
const (
	// formToolTag is a call in a tag made for calls, closed or not: <tool_call>{"name": …, "arguments":
	// …}</tool_call>.
	formToolTag Form = "tool_tag"
	// formSpecialToken is a call after a model's control token: <|python_tag|>{…}, [TOOL_CALLS] [{…}].
	formSpecialToken Form = "special_token"
	// formFunctionTag is a tag that names the tool and holds the arguments: <function=f>{…}</function>, <invoke
	// name="f">…</invoke>.
	formFunctionTag Form = "function_tag"
	// formToolCallsObject is an object with a list of calls: {"tool_calls": [{…}, {…}]}.
	formToolCallsObject Form = "tool_calls_object"
	// formCallList is a list of objects that name the tool and its arguments: [{"name": …, "arguments": …}].
	formCallList Form = "call_list"
	// formCallObject is one such object by itself: {"name": …, "arguments": …}.
	formCallObject Form = "call_object"
	// formInlineArguments is an object with the arguments beside the name: {"name": "f", "a": 1}.
	formInlineArguments Form = "inline_arguments"
	// formNameKeyedObject is an object whose keys are tools: {"f": {"a": 1}}.
	formNameKeyedObject Form = "name_keyed_object"
	// formPairList is a name and an object side by side in a list or tuple: ["f", {"a": 1}].
	formPairList Form = "pair_list"
	// formNameThenArguments is the tool's name, then its arguments: f, a new line, {"a": 1}; "Action: f", "Action
	// Input: {…}".
	formNameThenArguments Form = "name_then_arguments"
	// formPythonCall is a call with keyword arguments: f(a=1).
	formPythonCall Form = "python_call"
	// formPythonCallObject is a call with one object as its argument: f({"a": 1}), f(**{"a": 1}).
	formPythonCallObject Form = "python_call_object"
	// formQuotedCall is a Python call in quotes in a list: ["f(a=1)"]. Quotes in it may be escaped, nothing else.
	formQuotedCall Form = "quoted_call"
)

// Text around a call or value that was dropped.
const (
	// repairProse: text before or after was dropped.
	repairProse Form = "prose"
	// repairFence: backticks around were dropped.
	repairFence Form = "fence"
	// repairTag: a tag or control token around was dropped.
	repairTag Form = "tag"
)

// Readings of names and arguments.
const (
	// repairAlias: the written name is another spelling of the registered one.
	repairAlias Form = "alias"
	// repairStringArguments: the arguments were written as a string that holds JSON.
	repairStringArguments Form = "string_arguments"
	// repairNoArguments: a call without arguments, in a wrapper for calls, was read as {}.
	repairNoArguments Form = "no_arguments"
	// repairExtraMember: a member beside the name and the arguments was dropped.
	repairExtraMember Form = "extra_member"
	// repairPythonSyntax: keyword arguments of a Python call were read as an object.
	repairPythonSyntax Form = "python_syntax"
	// TaggedArguments: each argument was in its own tag, as in <parameter=a>1</parameter>. Such tags have no
	// types, so each value is a string here. Package tool, which knows the schema, converts it.
	TaggedArguments Form = "tagged_arguments"
	// repairAssignedArguments: the arguments were assigned to a variable before, as in v = {"a": 1}, f(v).
	repairAssignedArguments Form = "assigned_arguments"
	// WrappedArguments: the arguments were in one member that the tool's schema does not have, as in
	// f(params={"a": 1}). Package tool makes this repair, because it knows the schema.
	WrappedArguments Form = "wrapped_arguments"
	// QuotedObject: an object or array was written as JSON in a string, and the schema allows no string
	// there: {"addr": "{\"city\": \"Lisbon\"}"}. Package tool makes this repair, because it knows the schema.
	QuotedObject Form = "quoted_object"
)

// Leniencies of writing: they are not strict JSON, but have only one meaning.
const (
	// repairSingleQuotes: a string in single quotes.
	repairSingleQuotes Form = "single_quotes"
	// repairApostrophe: a single quote between two letters, in a string in single quotes.
	repairApostrophe Form = "apostrophe"
	// repairTokenQuotes: a string between control tokens, <escape> or <|"|>, as Gemma writes it.
	repairTokenQuotes Form = "token_quotes"
	// repairTripleQuotes: a string in triple quotes.
	repairTripleQuotes Form = "triple_quotes"
	// repairPythonLiteral: True, False or None.
	repairPythonLiteral Form = "python_literal"
	// repairPythonNumber: +5, .5, 5. or 1_000, respelled with the same value.
	repairPythonNumber Form = "python_number"
	// repairPythonEscape: \', \x41 or \U0001F600 in a string; a backslash before a letter that escapes nothing, in
	// single quotes.
	repairPythonEscape Form = "python_escape"
	// repairTuple: a tuple read as an array.
	repairTuple Form = "tuple"
	// repairTrailingComma: a comma before a closing bracket.
	repairTrailingComma Form = "trailing_comma"
	// repairComment: a comment (#, //, /* */) between tokens.
	repairComment Form = "comment"
	// repairUnquotedKey: a member's name without quotes.
	repairUnquotedKey Form = "unquoted_key"
	// repairRawControl: a control character, such as a line break, written raw in a string.
	repairRawControl Form = "raw_control"
	// repairMarkdownEscape: a backslash before an underscore in a name, or before a bracket, as Markdown writes it.
	repairMarkdownEscape Form = "markdown_escape"
)

// callForms are the forms a call is read by, in their order.
var callForms = []Form{
	formToolTag, formSpecialToken, formFunctionTag, formToolCallsObject, formCallList, formCallObject,
	formInlineArguments, formNameKeyedObject, formPairList, formNameThenArguments, formPythonCall,
	formPythonCallObject, formQuotedCall,
}

// repairs are the kinds of repair, in their order, and how to write it so that they are not needed: nothing
// for those that only drop text around a call or respell a name.
var repairs = []struct {
	kind   Form
	wanted string
}{
	{repairProse, ""}, {repairFence, ""}, {repairTag, ""}, {repairAlias, ""},
	{repairStringArguments, "arguments as an object instead of a string"},
	{repairNoArguments, "arguments written out, {} where there are none"},
	{repairExtraMember, "nothing beside a call's name and arguments"},
	{repairPythonSyntax, "arguments as a JSON object instead of name=value"},
	{TaggedArguments, syntax.Tags},
	{repairAssignedArguments, "arguments within the call instead of a variable"},
	{WrappedArguments, "arguments without an object around them"},
	{QuotedObject, "objects and arrays themselves, not quoted"},
	{repairSingleQuotes, syntax.Quotes},
	{repairApostrophe, syntax.Quotes},
	{repairTokenQuotes, syntax.Quotes},
	{repairTripleQuotes, syntax.Quotes},
	{repairPythonLiteral, syntax.PythonWords},
	{repairPythonNumber, syntax.Numbers},
	{repairPythonEscape, syntax.Escapes},
	{repairTuple, syntax.Lists},
	{repairTrailingComma, syntax.LastComma},
	{repairComment, syntax.Comments},
	{repairUnquotedKey, syntax.Quotes},
	{repairRawControl, "line breaks and control characters within strings written as escapes"},
	{repairMarkdownEscape, `no \ before _ and brackets`},
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

// Wanted says how to write it so that a kind of repair is not needed, as a phrase that reads after "expected".
// It is empty for those that only drop text around a call or respell a name, and for forms of calls.
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
