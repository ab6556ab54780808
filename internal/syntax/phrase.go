package syntax

// The phrases, each of which reads after "expected". They are part of what models are shown and of the ids of
// issues.
const (
	// Complete is for a text that ends too soon.
	Complete = "JSON that is complete"
	// Alone is for a text that does not begin with a value.
	Alone = "the JSON alone, without text before or after it"
	// Quotes is for single, typographic and missing quotation marks.
	Quotes = "double quotes around strings and names"
	// BareQuotes is for JSON that is escaped as if it stood in a string.
	BareQuotes = "double quotes without a backslash before them"
	// InnerQuotes is for a string that a quotation mark within it has ended.
	InnerQuotes = `strings in double quotes, with \" for those within`
	// PythonWords is for True, False and None.
	PythonWords = "true, false or null instead of Python's words"
	// NoNumber is for words that stand for numbers in other languages.
	NoNumber = "a number or null instead of NaN, Infinity or undefined"
	// Numbers is for numbers of other languages.
	Numbers = "numbers as JSON writes them, such as 0.5 or 1000"
	// Lines and Controls are for what stands raw in a string.
	Lines    = `line breaks within strings written as \n`
	Controls = `control characters within strings written as escapes such as \t`
	// Escapes is for a backslash that escapes nothing, CodePoints for a broken \u.
	Escapes    = `only JSON's escapes within strings, \\ for a backslash`
	CodePoints = `escapes such as \u00e9 that stand for a whole character`
	// LastComma is for a comma before a closing bracket.
	LastComma = "no comma after the last member or item"
	// Separators is for two values with nothing between them.
	Separators = "a colon after each name and a comma between members"
	// Names is for a value where a name must stand, Values for the reverse.
	Names  = "a name in double quotes before each value of an object"
	Values = "a value after each name and between commas"
	// Brackets is for one that closes another kind, Lists for a round one.
	Brackets = "each bracket closed by its own kind"
	Lists    = "square brackets around lists"
	// Comments and Dots are for what stands for nothing.
	Comments = "no comments"
	Dots     = "everything written out, without dots in its place"
	// Literals is for names and expressions in the place of values.
	Literals = "values written out, without names or expressions"
	// Tags is for tags in the place of values.
	Tags = "JSON instead of tags"
	// Object is for an object within quotation marks that cannot be read itself.
	Object = "an object instead of a string that holds one"
	// Arguments is for a call with a value that has no name.
	Arguments = "arguments written as name=value"
)
