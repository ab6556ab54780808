package policy_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// fill sets a field of a layer or set to something.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case **backoff.BackoffStrategy:
		*x = new(backoff.List(time.Second, time.Minute))
	case *map[fault.Class]time.Duration:
		*x = map[fault.Class]time.Duration{fault.NoOutput: time.Second}
	case *map[string]policy.Layer:
		*x = map[string]policy.Layer{"book_room": {MaxAttempts: new(5)}}
	case *policy.Layer:
		x.MaxAttempts = new(6)
	default:
		fillKind(t, v)
	}
}

func fillKind(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Struct:
		v.Field(0).SetInt(7)
	default:
		t.Fatal(v.Type())
	}
}

// TestSetsDifferByEachField sets each field alone: one that is forgotten fails here.
func TestSetsDifferByEachField(t *testing.T) {
	check := func(name string, a *policy.Set) {
		t.Helper()
		require.True(t, a.Equal(a), name)
		require.False(t, a.Equal(&policy.Set{}), name)
		require.False(t, (&policy.Set{}).Equal(a), name)
		c := a.Clone()
		require.True(t, a.Equal(c), name)
		require.Equal(t, a, c, name)
	}
	for n := range reflect.TypeFor[policy.Set]().NumField() {
		var a policy.Set
		fill(t, reflect.ValueOf(&a).Elem().Field(n))
		check(reflect.TypeFor[policy.Set]().Field(n).Name, &a)
	}
	for n := range reflect.TypeFor[policy.Layer]().NumField() {
		var a, tool policy.Set
		fill(t, reflect.ValueOf(&a.Call).Elem().Field(n))
		check(reflect.TypeFor[policy.Layer]().Field(n).Name, &a)
		tool.Tools = map[string]policy.Layer{"book_room": a.Call}
		check("tools", &tool)
	}
	empty := policy.Set{Global: policy.Layer{RetryableErrors: []fault.Class{}}}
	assert.False(t, empty.Equal(&policy.Set{}), "an empty list is said, and an absent one is not")
}

// TestACloneSharesNothing changes all that a set points to.
func TestACloneSharesNothing(t *testing.T) {
	var s policy.Set
	for n := range reflect.TypeFor[policy.Layer]().NumField() {
		fill(t, reflect.ValueOf(&s.Call).Elem().Field(n))
	}
	s.Tools = map[string]policy.Layer{"book_room": cloned(s.Call)}
	c := s.Clone()
	for _, l := range []policy.Layer{c.Call, c.Tools["book_room"]} {
		*l.MaxAttempts, *l.NoProgress, *l.MaxRetryAfter, *l.MaxTotalDelay = 1, 1, 1, 1
		*l.EmitFeedback, *l.OptOut, l.Backoff.Delays[0], l.Bases["x"] = true, true, 1, 1
		l.RetryableErrors[0], l.FormsOff[0], l.Origins[0].Field = "x", "x", "x"
	}
	delete(c.Tools, "book_room")
	want := cloned(s.Call)
	assert.Zero(t, *want.MaxAttempts)
	assert.Equal(t, want, s.Tools["book_room"])
	assert.NotContains(t, s.Call.Bases, fault.Class("x"))
	assert.Equal(t, time.Second, s.Call.Backoff.Delays[0])
	assert.Empty(t, s.Call.Origins[0].Field)
}

// cloned is a layer of its own.
func cloned(l policy.Layer) policy.Layer { return (&policy.Set{Call: l}).Clone().Call }

func TestTheLayerOfAPolicySharesNothing(t *testing.T) {
	p := policy.Correction()
	p.Backoff, p.Bases = backoff.List(time.Second, time.Minute), map[fault.Class]time.Duration{fault.NoOutput: time.Second}
	was := p.Clone()
	for _, l := range []policy.Layer{p.Layer(), p.TransportLayer()} {
		l.Backoff.Delays[0], l.Bases[fault.NoOutput], l.RetryableErrors[0] = time.Hour, time.Hour, "x"
	}
	assert.Equal(t, was, p)
}
