package schema_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

func digestOf[T any](t *testing.T) string {
	t.Helper()
	typed, err := schema.For[T]()
	require.NoError(t, err)
	return typed.Schema().Digest()
}

// The digest covers all rules for documents, also those that JSON Schema cannot say.
func TestADigestHasTheRulesThatASchemaCannotSay(t *testing.T) {
	type tree struct {
		Next *tree     `json:"next"`
		At   time.Time `json:"at"`
	}
	type same struct {
		Next *same     `json:"next"`
		At   time.Time `json:"at"`
	}
	type float struct {
		N float32 `json:"n"`
	}
	type double struct {
		N float64 `json:"n"`
	}
	type free struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	type ordered struct {
		A int `json:"a"`
		B int `json:"b" validate:"gtfield=A"`
	}
	assert.Equal(t, digestOf[tree](t), digestOf[same](t))
	assert.NotEqual(t, digestOf[float](t), digestOf[double](t))
	assert.NotEqual(t, digestOf[free](t), digestOf[ordered](t))
	assert.Equal(t, "c2a63a59bdf34ba6", digestOf[sizes](t))

	typed, err := schema.For[ordered]()
	require.NoError(t, err)
	assert.Equal(t, "schema_test.ordered", typed.Schema().Type())
	raw, err := schema.Compile(typed.Schema().JSON())
	require.NoError(t, err)
	assert.Empty(t, raw.Type())
	assert.NotEqual(t, typed.Schema().Digest(), raw.Digest())
	small, err := typed.Schema().WithLimits(schema.Limits{MaxBytes: 10, MaxDepth: 2, MaxValues: 100})
	require.NoError(t, err)
	assert.Equal(t, typed.Schema().Digest(), small.Digest())
	assert.Equal(t, 10, small.Limits().MaxBytes)
}
