package loop

import (
	"cmp"
	"reflect"

	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// adjuster asks the user's function, and reports whether its layer is another than the last, which is nil where there was none. It is
// made where the function is given, so that a program without one does not link the comparing of layers.
type adjuster func(s session.State, last *policy.Layer) (layer policy.Layer, changed bool)

func adjusterOf(f func(session.State) (policy.Layer, bool)) adjuster {
	if f == nil {
		return nil
	}
	return func(s session.State, last *policy.Layer) (policy.Layer, bool) {
		layer, ok := f(s)
		if !ok || reflect.DeepEqual(layer, *cmp.Or(last, &policy.Layer{})) {
			return policy.Layer{}, false
		}
		return layer, true
	}
}

// adjustPolicy asks before a decision is taken. The same layer again is no event.
func (d *driver) adjustPolicy() error {
	if d.adjust == nil {
		return nil
	}
	layer, changed := d.adjust(d.runner.st.Session, d.adjusted)
	if !changed {
		return nil
	}
	d.adjusted = &layer
	_, err := d.runner.Adjusted(d.now(), layer)
	return err
}
