package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const source = `package loop

type Config struct {
	Name   string
	Next   *Config
	hidden int
	base
}

type base struct{ Depth int }

func (base) Promoted() bool    { return true }
func (c Config) Validate() error { return nil }
func (c *Config) Set(n int)      {}
func (c *Config) reset()         {}

type Model interface {
	Reply(prompt string) (string, error)
	internal()
}

type Answer[T any] struct{ Value T }
type Kind string
type Old = Config
type private struct{ Field int }

const Max = 1 << 3
const First Kind = "first"

var ErrNone error

func Run[T any](c Config, more ...T) Answer[T] { return Answer[T]{} }
func run()                                     {}
`

func TestEveryExportedNameHasALine(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "loop.go", source, 0)
	require.NoError(t, err)
	p, err := (&types.Config{}).Check(core+"/loop", fset, []*ast.File{file}, nil)
	require.NoError(t, err)
	d := describe(p)
	assert.Equal(t, "loop.txt", d.file())
	assert.Equal(t, 9, d.names)
	assert.Equal(t, []string{
		"const First Kind = \"first\"",
		"const Max untyped int = 8",
		"field Answer.Value T",
		"field Config.Name string",
		"field Config.Next *Config",
		"func Run[T any](c Config, more ...T) Answer[T]",
		"method (*Config) Set(n int)",
		"method (Config) Promoted() bool",
		"method (Config) Validate() error",
		"method (Model) Reply(prompt string) (string, error)",
		"type Answer[T any] struct",
		"type Config struct",
		"type Kind string",
		"type Model interface",
		"type Old = Config",
		"var ErrNone error",
	}, d.lines)
}

func TestNamesOfTheCompilerAreLeftOut(t *testing.T) {
	assert.Equal(t, "func A(n int) error", asWritten("func A(n int) (#rv1 error)"))
	assert.Equal(t, "func A() func() error", asWritten("func A() (#rv1 func() error)"))
	assert.Equal(t, "func A() (int, error)", asWritten("func A() (#rv1 int, #rv2 error)"))
	assert.Equal(t, "func A() (n int, err error)", asWritten("func A() (n int, err error)"))
}

func TestEveryChangedLineIsNamed(t *testing.T) {
	before := map[string]string{"loop.txt": "func A()\nfunc B()\n", "gone.txt": "func Gone()\n", "same.txt": "func Same()\n"}
	now := map[string]string{"loop.txt": "func A(n int)\nfunc B()\n", "new.txt": "func New()\n", "same.txt": "func Same()\n"}
	assert.Equal(t, []string{
		"gone.txt: - func Gone()", "loop.txt: - func A()", "loop.txt: + func A(n int)", "new.txt: + func New()",
	}, difference(before, now))
	assert.Empty(t, difference(now, now))

	dir := t.TempDir() + "/api"
	require.NoError(t, writeFiles(dir, before))
	require.NoError(t, writeFiles(dir, now))
	read, err := readFiles(dir)
	require.NoError(t, err)
	assert.Equal(t, now, read, "files of packages that are gone are removed")
	none, err := readFiles(dir + "/none")
	require.NoError(t, err)
	assert.Empty(t, none)
}
