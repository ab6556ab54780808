package prompt_test

import (
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/prompt"
)

// One prompt for the first attempt, which has no feedback, and for all later ones.
func ExampleTemplate_Render() {
	booking, err := prompt.Parse("Book a room in {{.Vars.city}}.{{with feedback}}\n\n{{.}}{{end}}", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	first := prompt.NewData(nil, 1, 3, feedback.DefaultLimits())
	first.Vars = map[string]any{"city": "Lisbon"}
	text, err := booking.Render(first)
	fmt.Println(text, err)
	// Output: Book a room in Lisbon. <nil>
}

// Your own text replaces the default wording.
func ExampleTemplate_Words() {
	words, err := prompt.Parse("Please fix{{range issues}}\n* {{.Place}}: {{.Expected}}{{end}}", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := feedback.New(feedback.Input{
		Attempt: 1, MaxAttempts: 3, Class: fault.StructuredOutput,
		Issues: []fault.Issue{{Pointer: "/rivers/0", Rule: "type", Expected: "string", Got: fault.Null, Source: fault.FromSchema}},
	})
	text, err := words.Words(f, feedback.DefaultLimits())
	fmt.Println(text, err)
	// Output:
	// Please fix
	// * rivers/0: string <nil>
}

func ExampleParse() {
	_, err := prompt.Parse("Try again.\n{{if feedback}}{{.Message}}", nil)
	fmt.Println(err)
	// Output: prompt template, line 2: an {{if}}, {{range}}, {{with}}, {{block}} or {{define}} has no {{end}}
}
