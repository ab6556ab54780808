package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// The table is between these two lines of the document.
const (
	begins = "<!-- table: written by bench/cmd/table -->"
	ends   = "<!-- table: end -->"
)

// render makes the table: a section for each row, which compares its lines.
func render(about string, m measured, rows []row) string {
	var b strings.Builder
	b.WriteString(about)
	for i := range rows {
		rows[i].render(&b, m)
	}
	return b.String()
}

func (r *row) render(b *strings.Builder, m measured) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n", r.name, r.work)
	for _, a := range r.aims {
		fmt.Fprintf(b, "- Aim: %s.\n", a.verdict(r, m))
	}
	if len(r.aims) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "| | %s | ratio |\n|---|%s--:|\n", strings.Join(titles(r.columns()), " | "), strings.Repeat("--:|", len(r.columns())))
	for _, l := range r.lines {
		r.line(b, m, l)
	}
	for _, n := range r.notes {
		fmt.Fprintf(b, "\n%s\n", n)
	}
}

func (r *row) line(b *strings.Builder, m measured, l line) {
	text := l.text
	if strings.HasPrefix(l.name, "ours") {
		text = "**" + text + "**"
	}
	if l.why != "" {
		fmt.Fprintf(b, "| %s | %s |\n", text, l.why+strings.Repeat(" |", len(r.columns())))
		return
	}
	cells := make([]string, 0, 4)
	for _, c := range r.columns() {
		v, ok := r.value(m, l.name, c.unit)
		cells = append(cells, number(v, ok))
	}
	fmt.Fprintf(b, "| %s | %s | %s |\n", text, strings.Join(cells, " | "), r.ratio(m, l))
}

// value is a median, divided by the count of the row.
func (r *row) value(m measured, name, unit string) (float64, bool) {
	v, ok := m.median(r.bench+"/"+name, unit)
	by := 1.0
	if r.per != "" && ok {
		by, ok = m.median(r.bench+"/"+name, r.per)
	}
	if r.among > 0 {
		by = r.among
	}
	return v / by, ok
}

func (r *row) ratio(m measured, l line) string {
	unit := r.columns()[0].unit
	v, ok := r.value(m, l.name, unit)
	to, known := r.value(m, l.reference(r), unit)
	if !ok || !known || to == 0 {
		return "–"
	}
	return number(v/to, true)
}

func (l line) reference(r *row) string {
	if l.to != "" {
		return l.to
	}
	return r.to
}

// verdict returns the aim, the measured value, and whether the aim is reached.
func (a aim) verdict(r *row, m measured) string {
	v, ok := r.value(m, a.line, a.unit)
	most, text := a.most, fmt.Sprintf("at most %s %s", number(a.most, true), unitNames[a.unit])
	if a.of != "" {
		base, known := r.value(m, a.of, a.unit)
		ok = ok && known
		most = a.most * base
		text = fmt.Sprintf("at most %s × %s in %s (%s)", number(a.most, true), r.textOf(a.of), unitNames[a.unit], number(most, known))
	}
	switch {
	case !ok:
		return fmt.Sprintf("%s, %s: not measured", r.textOf(a.line), text)
	case v <= most:
		return fmt.Sprintf("%s, %s: %s, met", r.textOf(a.line), text, number(v, true))
	}
	return fmt.Sprintf("%s, %s: %s, **missed**", r.textOf(a.line), text, number(v, true))
}

func (r *row) textOf(name string) string {
	for _, l := range r.lines {
		if l.name == name {
			return l.text
		}
	}
	return name
}

// number formats a value with three digits, and separates thousands.
func number(v float64, ok bool) string {
	if !ok {
		return "–"
	}
	if v == 0 {
		return "0"
	}
	places := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	if places < 0 {
		scale := math.Pow(10, float64(-places))
		v, places = math.Round(v/scale)*scale, 0
	}
	text := strconv.FormatFloat(v, 'f', places, 64)
	if places > 0 {
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// publish writes the table into the document.
func publish(file, table string) error {
	if file == "" {
		fmt.Print(table)
		return nil
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), begins+"\n")
	_, after, found := strings.Cut(rest, ends)
	if !ok || !found {
		return fmt.Errorf("%s: the table stands between the lines %q and %q, and they are not there", file, begins, ends)
	}
	return os.WriteFile(file, []byte(before+begins+"\n\n"+table+"\n"+ends+after), 0o644)
}
