package syntax

// The phrases, to be read after "expected". They are shown to models and are part of the ids of issues.
const (
	// Complete: the text ends too soon.
	Complete = "JSON that is complete"
	// Alone: the text does not begin with a value.
	Alone = "the JSON alone, without text before or after it"
	// Quotes: single, typographic or missing quotation marks.
	Quotes = "double quotes around strings and names"
	// BareQuotes: JSON that is escaped as if it were inside a string.
	BareQuotes = "double quotes without a backslash before them"
	// InnerQuotes: a quotation mark inside a string ended it.
	InnerQuotes = `strings in double quotes, with \" for those within`
	// PythonWords: True, False or None.
	PythonWords = "true, false or null instead of Python's words"
	// NoNumber: words for numbers in other languages.
	NoNumber = "a number or null instead of NaN, Infinity or undefined"
	// Numbers: numbers in the syntax of other languages.
	Numbers = "numbers as JSON writes them, such as 0.5 or 1000"
	// Lines and Controls: unescaped characters in a string.
	Lines    = `line breaks within strings written as \n`
	Controls = `control characters within strings written as escapes such as \t`
	// Escapes: an invalid escape. CodePoints: an invalid \u.
	Escapes    = `only JSON's escapes within strings, \\ for a backslash`
	CodePoints = `escapes such as \u00e9 that stand for a whole character`
	// LastComma: a comma before a closing bracket.
	LastComma = "no comma after the last member or item"
	// Separators: nothing between two values.
	Separators = "a colon after each name and a comma between members"
	// Names: a value in place of a name. Values: the reverse.
	Names  = "a name in double quotes before each value of an object"
	Values = "a value after each name and between commas"
	// Brackets: a closing bracket of another kind. Lists: round brackets.
	Brackets = "each bracket closed by its own kind"
	Lists    = "square brackets around lists"
	// Spaces: white space that JSON does not have.
	Spaces = "only plain spaces and line breaks between names and values"
	// Comments and Dots: text that is not data.
	Comments = "no comments"
	Dots     = "everything written out, without dots in its place"
	// Literals: names and expressions in place of values.
	Literals = "values written out, without names or expressions"
	// Tags: tags in place of values.
	Tags = "JSON instead of tags"
	// Object: an object inside quotation marks that cannot be parsed itself.
	Object = "an object instead of a string that holds one"
	// Arguments: a call with a value without a name.
	Arguments = "arguments written as name=value"
)
