package canon

import (
	"bytes"
	"sync"
)

// Form makes the canonical form of a JSON text that somebody else walks once, from its beginning to its end, and tells it what does not
// stand there as it is to be written: white space, strings with escapes, members of objects. What stands is copied as late and in as
// long pieces as can be: a canonical text in one. It takes the walker's word for the grammar. Get one from [FormOf]; not for concurrent use.
type Form struct {
	in      []byte
	done    int // what is before it in the text is written
	out     []byte
	members []written // of the objects that are open, the innermost last
	scratch []byte
	text    []byte // room for a text that is a string
	odd     bool   // the library must make the form
}

// written is a member of an object: where its name is in the text that is read, how that begins, and its place in what is written.
type written struct {
	begins         uint64 // the first eight bytes, the first the highest; zeros where there are fewer
	name, from, to int
}

const (
	quickMembers = 32      // how many members of an object are sorted
	keptScratch  = 1 << 14 // how many bytes of scratch are kept for the next text
)

// forms are kept for their room alone.
var forms = sync.Pool{New: func() any { f := newForm(); return &f }}

func newForm() Form { return Form{members: make([]written, 0, 16), scratch: make([]byte, 0, 512)} }

// FormOf begins the form of a text in UTF-8.
func FormOf(text string) *Form {
	f := forms.Get().(*Form)
	f.begin(make([]byte, 0, len(text)), f.copied(text))
	return f
}

// End returns the form, once the text was walked to its end; false where [Text] must make it. The Form is of no use afterwards.
func (f *Form) End() ([]byte, bool) {
	f.flush(len(f.in))
	form, ok := f.out, !f.odd
	if f.forget() {
		forms.Put(f)
	}
	return form, ok
}

func (f *Form) begin(dst, raw []byte) {
	f.in, f.done, f.out, f.members, f.odd = raw, 0, dst, f.members[:0], false
}

// copied is a text in the room of the form.
func (f *Form) copied(text string) []byte {
	f.text = append(f.text[:0], text...)
	return f.text
}

// forget lets go of what is not the form's own, and reports whether its room is worth keeping.
func (f *Form) forget() bool {
	f.in, f.out = nil, nil
	return cap(f.scratch)+cap(f.text) <= keptScratch
}

// flush writes what is to be written as it stands in the text, up to an offset.
func (f *Form) flush(at int) {
	f.out = append(f.out, f.in[f.done:at]...)
	f.done = at
}

// place is where in what is written that comes to stand which is at an offset of the text.
func (f *Form) place(at int) int { return len(f.out) + at - f.done }

// Skip leaves out white space. As with all that follow, a nil Form takes no notice.
func (f *Form) Skip(from, to int) {
	if f != nil {
		f.flush(from)
		f.done = to
	}
}

// Say writes a string with escapes in it by what it says.
func (f *Form) Say(from, to int, s string) {
	if f != nil {
		f.flush(from)
		f.out, _ = AppendString(f.out, s)
		f.done = to
	}
}

// Open begins an object, and returns what Close is to be given at its end.
func (f *Form) Open() (first int) {
	if f != nil {
		first = len(f.members)
	}
	return first
}

// Name begins a member: its name is written from one offset to another, quotation marks included. Names that are plain ASCII have the
// order of their bytes, which is that of RFC 8785; any others are left to the library.
func (f *Form) Name(from, to int) {
	if f != nil {
		f.name(from, to)
	}
}

func (f *Form) name(from, to int) {
	name := f.in[from+1 : to-1]
	f.odd = f.odd || !IsPlain(name)
	f.members = append(f.members, written{name: from + 1, from: f.place(from), begins: beginning(name)})
}

// Value ends the member that was begun last: its value is written up to an offset.
func (f *Form) Value(end int) {
	if f != nil {
		f.members[len(f.members)-1].to = f.place(end)
	}
}

// Close ends an object, whose closing bracket stands before an offset.
func (f *Form) Close(first, at int) {
	if f != nil {
		f.close(first, at)
	}
}

// close puts the members of an object in order.
func (f *Form) close(first, at int) {
	members := f.members[first:]
	f.members = f.members[:first]
	for n := 1; n < len(members); n++ {
		if less, _ := f.less(&members[n-1], &members[n]); !less {
			f.odd = f.odd || !f.sort(members, at)
			break
		}
	}
}

// less compares names; same is set where both are one.
func (f *Form) less(a, b *written) (less, same bool) {
	if a.begins != b.begins {
		return a.begins < b.begins, false
	}
	order := bytes.Compare(f.named(a), f.named(b))
	return order < 0, order == 0
}

// named is the name of a member, in which there is no quotation mark.
func (f *Form) named(m *written) []byte {
	name := f.in[m.name:]
	return name[:bytes.IndexByte(name, '"')]
}

// sort puts the members of an object in order: what was written last, but for the bracket before at. It is false where they are many,
// or two have one name.
func (f *Form) sort(members []written, at int) bool {
	if len(members) > quickMembers {
		return false
	}
	f.flush(at)
	start := members[0].from
	for n := range members {
		m, at := members[n], n
		for ; at > 0; at-- {
			less, same := f.less(&members[at-1], &m)
			if same {
				return false
			}
			if less {
				break
			}
			members[at] = members[at-1]
		}
		members[at] = m
	}
	to := f.scratch[:0]
	for n := range members {
		to = append(append(to, f.out[members[n].from:members[n].to]...), ',')
	}
	copy(f.out[start:], to[:len(to)-1])
	f.scratch = to
	return true
}
