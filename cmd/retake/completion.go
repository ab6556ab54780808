package main

import (
	"flag"
	"slices"
	"strings"
	"text/template"
)

// The variable is set in init because the scripts name all commands, including this one.
var completionCommand command

func init() {
	completionCommand = command{
		name:    "completion",
		summary: "writes a completion script for bash, zsh or fish",
		example: "source <(retake completion bash)",
		usage:   []string{"completion bash|zsh|fish"},
		about: `
Writes a script for a shell to standard output:

  bash  source <(retake completion bash)                                     in ~/.bashrc
  zsh   source <(retake completion zsh)                                      in ~/.zshrc, after compinit
  fish  retake completion fish > ~/.config/fish/completions/retake.fish`,
		task: newTask[completion],
	}
}

type completion struct{ shell string }

func (c *completion) take(args []string) error {
	shells := []string{"bash", "zsh", "fish"}
	if len(args) != 1 {
		return misused("give one shell: bash, zsh or fish")
	}
	if c.shell = args[0]; !slices.Contains(shells, c.shell) {
		near := didYouMean(c.shell, shells)
		return misused("there is no script for %q%s\nshells: bash, zsh, fish", c.shell, near)
	}
	return nil
}

func (c *completion) run(e *env) error {
	var all []shellCommand
	for _, c := range commands() {
		one := shellCommand{Name: c.name, Summary: c.summary}
		c.flagSet(c.task()).VisitAll(func(f *flag.Flag) {
			what, usage := flag.UnquoteUsage(f)
			one.Flags = append(one.Flags, shellFlag{f.Name, usage, what})
		})
		all = append(all, one)
	}
	return completions.ExecuteTemplate(e.out, c.shell, all)
}

// shellCommand is a command in the scripts.
type shellCommand struct {
	Name, Summary string
	Flags         []shellFlag
}

// shellFlag is a flag in the scripts. What names its value; empty for a switch.
type shellFlag struct{ Name, Usage, What string }

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// completions are the templates of the scripts.
var completions = template.Must(template.New("").Funcs(template.FuncMap{"quote": shellQuote}).Parse(`
{{- define "bash" -}}
_retake() {
  local words="{{range .}}{{.Name}} {{end}}help"
  if ((COMP_CWORD > 1)); then
    case ${COMP_WORDS[1]} in
{{- range .}}
      {{.Name}}) words="{{range .Flags}}-{{.Name}} {{end}}" ;;
{{- end}}
    esac
    [[ ${COMP_WORDS[1]} == completion ]] && words="bash zsh fish"
  fi
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _retake retake
{{end}}
{{- define "zsh" -}}
#compdef retake
_retake() {
  local -a found
  if ((CURRENT == 2)); then
    found=({{range .}}
      {{printf "%s:%s" .Name .Summary | quote}}{{end}}
      'help:what a command does')
    _describe command found
    return
  fi
  case ${words[2]} in
{{- range .}}
    {{.Name}}) found=({{range .Flags}}
      {{printf "-%s:%s" .Name .Usage | quote}}{{end}}) ;;
{{- end}}
    help) compadd {{range .}}{{.Name}} {{end}}; return ;;
  esac
  case ${words[2]}:${words[CURRENT]} in
    completion:*) compadd bash zsh fish ;;
    *:-*) _describe -o flag found ;;
    *) _files ;;
  esac
}
compdef _retake retake
{{end}}
{{- define "fish" -}}
{{range $c := . -}}
complete -c retake -n __fish_use_subcommand -f -a {{.Name}} -d {{quote .Summary}}
{{range .Flags -}}
complete -c retake -n '__fish_seen_subcommand_from {{$c.Name}}' -o {{.Name}}{{if .What}} -r{{end}} -d {{quote .Usage}}
{{end}}{{end -}}
complete -c retake -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
{{end}}`))
