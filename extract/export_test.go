package extract

// The forms, for the tests.
const (
	ToolTag           = formToolTag
	SpecialToken      = formSpecialToken
	FunctionTag       = formFunctionTag
	ToolCallsObject   = formToolCallsObject
	CallList          = formCallList
	CallObject        = formCallObject
	InlineArguments   = formInlineArguments
	NameKeyedObject   = formNameKeyedObject
	PairList          = formPairList
	NameThenArguments = formNameThenArguments
	PythonCall        = formPythonCall
	PythonCallObject  = formPythonCallObject
	QuotedCall        = formQuotedCall
	Prose             = repairProse
	Fence             = repairFence
	Tag               = repairTag
	Alias             = repairAlias
	StringArguments   = repairStringArguments
	NoArguments       = repairNoArguments
	ExtraMember       = repairExtraMember
	PythonSyntax      = repairPythonSyntax
	AssignedArguments = repairAssignedArguments
	SingleQuotes      = repairSingleQuotes
	Apostrophe        = repairApostrophe
	TokenQuotes       = repairTokenQuotes
	TripleQuotes      = repairTripleQuotes
	PythonLiteral     = repairPythonLiteral
	PythonNumber      = repairPythonNumber
	PythonEscape      = repairPythonEscape
	Tuple             = repairTuple
	TrailingComma     = repairTrailingComma
	Comment           = repairComment
	UnquotedKey       = repairUnquotedKey
	RawControl        = repairRawControl
	MarkdownEscape    = repairMarkdownEscape
)
