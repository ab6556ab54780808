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
	// formToolTag is a call in a tag for calls, closed or not: <tool_call>{"name": …, …}</tool_call>.
	formToolTag Form = "tool_tag"
	// formSpecialToken is a call after a model's control token: <|python_tag|>{…}, [TOOL_CALLS] [{…}].
	formSpecialToken Form = "special_token"
	// formFunctionTag is a tag that names the tool and holds the arguments: <function=f>{…}</function>,
	// <invoke name="f">…</invoke>, <f>{…}</f>, <f><a>1</a></f>.
	formFunctionTag Form = "function_tag"
	// formToolCallsObject is an object with a list of calls: {"tool_calls": [{…}, {…}]}.
	formToolCallsObject Form = "tool_calls_object"
	// formCallList is a list of objects that name tool and arguments: [{"name": …, "arguments": …}].
	formCallList Form = "call_list"
	// formCallObject is one such object by itself: {"name": …, "arguments": …}.
	formCallObject Form = "call_object"
	// formInlineArguments is an object with the arguments beside the name: {"name": "f", "a": 1}.
	formInlineArguments Form = "inline_arguments"
	// formNameKeyedObject is an object whose keys are tools: {"f": {"a": 1}}.
	formNameKeyedObject Form = "name_keyed_object"
	// formPairList is a name and an object side by side in a list or tuple: ["f", {"a": 1}].
	formPairList Form = "pair_list"
	// formNameThenArguments is the tool's name, then its arguments: f, a new line, {"a": 1}; "Action: f",
	// "Action Input: {…}".
	formNameThenArguments Form = "name_then_arguments"
	// formPythonCall is a call with keyword arguments: f(a=1).
	formPythonCall Form = "python_call"
	// formPythonCallObject is a call with one object as its argument: f({"a": 1}), f(**{"a": 1}).
	formPythonCallObject Form = "python_call_object"
	// formQuotedCall is a Python call in quotes in a list: ["f(a=1)"]. Only quotes in it may be escaped.
	formQuotedCall Form = "quoted_call"
)

// Text around a call or value that was dropped.
const (
	// Prose: text before or after a call or value was dropped.
	Prose Form = "prose"
	// formFence: backticks around were dropped.
	formFence Form = "fence"
	// formTag: a tag or control token around was dropped.
	formTag Form = "tag"
)

// Readings of names and arguments.
const (
	// formAlias: the written name is another spelling of the registered one, or has a namespace before it.
	formAlias Form = "alias"
	// formStringArguments: the arguments were written as a string that holds JSON.
	formStringArguments Form = "string_arguments"
	// formNoArguments: a call without arguments, in a wrapper for calls, was read as {}.
	formNoArguments Form = "no_arguments"
	// formExtraMember: a member beside the name and the arguments was dropped.
	formExtraMember Form = "extra_member"
	// formPythonSyntax: keyword arguments of a Python call were read as an object.
	formPythonSyntax Form = "python_syntax"
	// TaggedArguments: each argument was in its own tag, as in <parameter=a>1</parameter>. Such tags have no
	// types, so each value is a string here. Package tool, which knows the schema, converts it.
	TaggedArguments Form = "tagged_arguments"
	// formAssignedArguments: the arguments were assigned to a variable before, as in v = {"a": 1}, f(v).
	formAssignedArguments Form = "assigned_arguments"
	// WrappedArguments: the arguments were in one member that the tool's schema does not have, as in
	// f(params={"a": 1}). Package tool makes this repair, because it knows the schema.
	WrappedArguments Form = "wrapped_arguments"
	// QuotedObject: an object or array was written as JSON in a string, and the schema allows no string
	// there: {"addr": "{\"city\": \"Lisbon\"}"}. Package tool makes this repair, because it knows the schema.
	QuotedObject Form = "quoted_object"
)

// Leniencies of writing: they are not strict JSON, but have only one meaning.
const (
	// formSingleQuotes: a string in single quotes.
	formSingleQuotes Form = "single_quotes"
	// formApostrophe: a single quote between two letters, in a string in single quotes.
	formApostrophe Form = "apostrophe"
	// formTokenQuotes: a string between control tokens, <escape> or <|"|>, as Gemma writes it.
	formTokenQuotes Form = "token_quotes"
	// formSmartQuotes: a string in “quotation marks” as word processors set them.
	formSmartQuotes Form = "smart_quotes"
	// formTripleQuotes: a string in triple quotes.
	formTripleQuotes Form = "triple_quotes"
	// formPythonLiteral: True, False or None.
	formPythonLiteral Form = "python_literal"
	// formPythonNumber: +5, .5, 5. or 1_000, respelled with the same value.
	formPythonNumber Form = "python_number"
	// formPythonEscape: \', \x41 or \U0001F600 in a string; a backslash before a letter that escapes nothing,
	// in single quotes.
	formPythonEscape Form = "python_escape"
	// formTuple: a tuple read as an array.
	formTuple Form = "tuple"
	// formTrailingComma: a comma before a closing bracket.
	formTrailingComma Form = "trailing_comma"
	// formComment: a comment (#, //, /* */) between tokens.
	formComment Form = "comment"
	// formOddSpace: white space between tokens that JSON does not have: that of JavaScript, such as a
	// no-break space, or \n, \r or \t, written so.
	formOddSpace Form = "odd_space"
	// formUnquotedKey: a member's name without quotes.
	formUnquotedKey Form = "unquoted_key"
	// formRawControl: a control character, such as a line break, written raw in a string.
	formRawControl Form = "raw_control"
	// formMarkdownEscape: Markdown's backslash before an underscore in a name, or before a bracket.
	formMarkdownEscape Form = "markdown_escape"
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
	{Prose, ""}, {formFence, ""}, {formTag, ""}, {formAlias, ""},
	{formStringArguments, "arguments as an object instead of a string"},
	{formNoArguments, "arguments written out, {} where there are none"},
	{formExtraMember, "nothing beside a call's name and arguments"},
	{formPythonSyntax, "arguments as a JSON object instead of name=value"},
	{TaggedArguments, syntax.Tags},
	{formAssignedArguments, "arguments within the call instead of a variable"},
	{WrappedArguments, "arguments without an object around them"},
	{QuotedObject, "objects and arrays themselves, not quoted"},
	{formSingleQuotes, syntax.Quotes},
	{formApostrophe, syntax.Quotes},
	{formTokenQuotes, syntax.Quotes},
	{formSmartQuotes, syntax.Quotes},
	{formTripleQuotes, syntax.Quotes},
	{formPythonLiteral, syntax.PythonWords},
	{formPythonNumber, syntax.Numbers},
	{formPythonEscape, syntax.Escapes},
	{formTuple, syntax.Lists},
	{formTrailingComma, syntax.LastComma},
	{formComment, syntax.Comments},
	{formOddSpace, syntax.Spaces},
	{formUnquotedKey, syntax.Quotes},
	{formRawControl, "line breaks and control characters within strings written as escapes"},
	{formMarkdownEscape, `no \ before _ and brackets`},
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
