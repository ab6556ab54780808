package policy

import "github.com/retake-go/retake/internal/fields"

// Fields returns the names of all fields of a policy, as in files and JSON, in the order of [RetryPolicy].
func Fields() []string { return layerTable().Names() }

// Sets returns the names of the fields that l sets, in the order of [Fields].
func (l Layer) Sets() []string {
	var names []string
	for n, row := range layerTable().Rows {
		if fields.Says(&l, n) {
			names = append(names, row.Name)
		}
	}
	return names
}

// IsZero reports whether l sets no field.
func (l *Layer) IsZero() bool {
	for n := range layerTable().Rows {
		if fields.Says(l, n) {
			return false
		}
	}
	return true
}

// Source returns where the field was written, or the zero Source if that is unknown.
func (l Layer) Source(field string) Source {
	for _, o := range l.Origins {
		if o.Field == field {
			return o.Source
		}
	}
	return Source{}
}

// Over returns l merged over below: a field that l sets wins. The result shares slices and maps with both.
func (l Layer) Over(below Layer) Layer {
	merged := below
	merged.Origins = nil
	if layerTable().Over(&merged, &l); l.Backoff != nil && below.Backoff != nil {
		merged.Backoff = new(keepJitter(*l.Backoff, *below.Backoff))
		if l.Backoff.Jitter.Kind == "" { // what l itself says is for Validate to judge
			fitJitter(merged.Backoff)
		}
	}
	for n, row := range layerTable().Rows {
		from := &below
		if fields.Says(&l, n) {
			from = &l
		}
		if s := from.Source(row.Name); s != (Source{}) && fields.Says(from, n) {
			merged.Origins = append(merged.Origins, Origin{row.Name, s})
		}
	}
	return merged
}

// MarshalJSON writes the fields that l sets, in the order of [Fields], and where they were written.
func (l Layer) MarshalJSON() ([]byte, error) {
	data, err := layerTable().JSON(&l)
	if origins := l.originsJSON(); err == nil && origins != nil {
		data = append(append(data[:len(data)-1], origins...), '}')
	}
	return data, err
}

// UnmarshalJSON replaces l with the layer in the JSON. It refuses unknown, duplicate and null members; the
// error joins all faults, each a [*FieldError], and leaves l unchanged. It checks types but not values: see
// [Layer.Validate].
func (l *Layer) UnmarshalJSON(data []byte) error {
	var read Layer
	if err := fields.Err[FieldError](fields.ReadJSON(data, &read)); err != nil {
		return err
	}
	*l = read
	return nil
}
