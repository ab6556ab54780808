package extract_test

import (
	"fmt"

	"github.com/retake-go/retake/extract"
)

func ExampleCalls() {
	names := extract.NewNames([]string{"math.gcd", "math.lcm"})
	text := "Here you go:\n```python\n[math_gcd(a=12, b=18), math.lcm(a=4, b=\n```"
	calls, _ := extract.Calls(text, names, extract.Options{MaxCalls: 10})
	for _, c := range calls {
		fmt.Printf("%s %s %s\n", c.Name, c.Arguments, c.Form)
		for _, r := range c.Repairs {
			fmt.Printf("  %s at %d\n", r.Kind, r.Offset)
		}
		if c.Broken != nil {
			fmt.Printf("  broken: %s at %d\n", c.Broken.Rule, c.Broken.Offset)
		}
	}
	// Output:
	// math.gcd {"a":12,"b":18} python_call
	//   prose at 0
	//   fence at 13
	//   alias at 24
	//   python_syntax at 24
	// math.lcm  python_call
	//   prose at 0
	//   fence at 13
	//   broken: syntax at 63
}

func ExampleValue() {
	raw, repairs, _ := extract.Value("Sure!\n```json\n{'city': 'Lisbon', 'nights': 2,}\n```", extract.Options{MaxCalls: 10})
	fmt.Println(string(raw))
	fmt.Println(repairs)
	// Output:
	// {"city":"Lisbon","nights":2}
	// [{prose 0} {fence 6} {single_quotes 15} {single_quotes 23} {single_quotes 33} {trailing_comma 44}]
}
