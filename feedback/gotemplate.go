package feedback

import (
	"io"
	"maps"
	"text/template"
)

// templateName stands in the library's positions, from where a line number is read.
const templateName = "prompt"

// goTemplate is a template as text/template reads it.
type goTemplate struct{ base *template.Template }

// goTemplateOf reads a text as text/template does. The error is a [TemplateError].
func goTemplateOf(text string) (filler, error) {
	base, err := template.New(templateName).Option("missingkey=error").Funcs(bound(Data{}, &meter{})).Parse(text)
	if err != nil {
		return nil, diagnose(text, err)
	}
	if err := undefined(base, text); err != nil {
		return nil, err
	}
	for _, t := range base.Templates() {
		guard(t.Root)
	}
	return goTemplate{base}, nil
}

func (t goTemplate) fill(out io.Writer, d Data, work int) error {
	run, err := t.base.Clone()
	if err != nil {
		return err
	}
	return run.Funcs(bound(d, &meter{left: work})).Execute(out, d)
}

// bound are all functions of one rendering.
func bound(d Data, m *meter) template.FuncMap {
	all := m.funcs()
	maps.Copy(all, funcs(func() Data { return d }))
	return all
}
