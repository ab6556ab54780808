package policy_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/fields"
	"github.com/retake-go/retake/policy"
)

// Each row of a table has the name and the type of its field.
func TestTablesFollowTheirStructs(t *testing.T) {
	rows := fields.For[policy.Layer]().Names()
	assert.Equal(t, rows, spelt[policy.RetryPolicy]())
	assert.Equal(t, append(rows, "origins"), spelt[policy.Layer]())
	for n := range rows {
		row := fields.For[policy.Layer]().Rows[n]
		value := strings.TrimPrefix(reflect.TypeFor[policy.Layer]().Field(n).Type.String(), "*")
		assert.Equal(t, "fields.Type["+value+"]", strings.ReplaceAll(reflect.TypeOf(row.Type).String(), "github.com/retake-go/retake/", ""))
		assert.Equal(t, value, reflect.TypeFor[policy.RetryPolicy]().Field(n).Type.String())
	}
	for _, c := range []struct{ rows, structs []string }{
		{fields.For[policy.Set]().Names(), spelt[policy.Set]()},
		{fields.For[policy.Budgets]().Names(), spelt[policy.Budgets]()},
		{fields.For[backoff.BackoffStrategy]().Names(), spelt[backoff.BackoffStrategy]()},
		{fields.For[backoff.Jitter]().Names(), spelt[backoff.Jitter]()},
	} {
		assert.Equal(t, c.structs, c.rows)
	}
}

// spelt returns the names of a struct's fields as in files.
func spelt[T any]() []string {
	var names []string
	for n := range reflect.TypeFor[T]().NumField() {
		name := reflect.TypeFor[T]().Field(n).Name
		if name == "PerAttempt" { // beside max_attempts it reads well enough
			name = "Attempts"
		}
		names = append(names, strings.ToLower(regexp.MustCompile("([a-z])([A-Z])").ReplaceAllString(name, "${1}_$2")))
	}
	return names
}
