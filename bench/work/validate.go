package work

import (
	"reflect"
	"strings"

	"github.com/go-playground/validator/v10"
)

// Validator is go-playground's validator with the usual settings for JSON: it uses the fields' JSON names.
func Validator() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
	return v
}
