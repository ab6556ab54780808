package journal_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/journal"
)

var snake = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Journals outlive versions, so every member has an explicit name.
func TestEveryMemberOfAJournalIsNamedOnPurpose(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type, at string)
	walk = func(typ reflect.Type, at string) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		marshals := typ.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Marshaler]())
		if typ.Kind() != reflect.Struct || seen[typ] || marshals {
			return
		}
		seen[typ] = true
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "-" {
				continue
			}
			if !f.Anonymous {
				assert.Regexp(t, snake, name, "%s.%s", at, f.Name)
			}
			walk(f.Type, at+"."+f.Name)
		}
	}
	walk(reflect.TypeFor[journal.Record](), "Record")
}
