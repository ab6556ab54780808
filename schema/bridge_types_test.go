package schema_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"
)

// The types below have every rule that the schema can say, on every kind of value that can have it.

type stringsType struct {
	Req       string  `json:"req" validate:"required"`
	ReqLen    string  `json:"reqlen" validate:"required,min=2,max=4"`
	Opt       string  `json:"opt" validate:"omitempty,min=3"`
	Free      string  `json:"free"`
	Len       string  `json:"len" validate:"len=2"`
	Gt        string  `json:"gt" validate:"omitempty,gt=1,lt=4"`
	Gte       string  `json:"gte" validate:"gte=0,lte=3"`
	Eq        string  `json:"eq" validate:"eq=ab"`
	Ne        string  `json:"ne" validate:"ne=ab"`
	One       string  `json:"one" validate:"oneof=a 'b c' ab"`
	OptOne    string  `json:"optone" validate:"omitempty,oneof=a b"`
	None      string  `json:"none" validate:"noneof=a b"`
	Ptr       *string `json:"ptr" validate:"omitempty,min=2"`
	ReqPtr    *string `json:"reqptr" validate:"required"`
	BarePtr   *string `json:"bareptr"`
	RulePtr   *string `json:"ruleptr" validate:"min=1"`
	PtrOne    *string `json:"ptrone" validate:"omitempty,oneof=a b"`
	ZeroPtr   *string `json:"zeroptr" validate:"omitzero,min=2"`
	Skipped   string  `json:"skipped" validate:"-"`
	Default   string  `json:"default" validate:"isdefault"`
	OmitMid   string  `json:"omitmid" validate:"max=3,omitempty,min=2"`
	OmitNil   *string `json:"omitnil" validate:"omitnil,max=2"`
	NamedText named   `json:"named" validate:"required,max=3"`
}

type named string

type patternsType struct {
	Alpha    string `json:"alpha" validate:"omitempty,alpha"`
	Space    string `json:"space" validate:"omitempty,alphaspace"`
	Alphanum string `json:"alphanum" validate:"omitempty,alphanum"`
	ANSpace  string `json:"anspace" validate:"omitempty,alphanumspace"`
	Numeric  string `json:"numeric" validate:"omitempty,numeric"`
	Number   string `json:"number" validate:"omitempty,number"`
	Hex      string `json:"hex" validate:"omitempty,hexadecimal"`
	E164     string `json:"e164" validate:"omitempty,e164"`
	Starts   string `json:"starts" validate:"omitempty,startswith=a."`
	Ends     string `json:"ends" validate:"omitempty,endswith=.a"`
	NoStart  string `json:"nostart" validate:"startsnotwith=a"`
	NoEnd    string `json:"noend" validate:"endsnotwith=a"`
	Contains string `json:"contains" validate:"omitempty,contains=b]"`
	Any      string `json:"any" validate:"omitempty,containsany=a^-]"`
	Excludes string `json:"excludes" validate:"excludes=ab"`
	Excall   string `json:"excall" validate:"excludesall=.0x2C"`
	Lower    string `json:"lower" validate:"omitempty,lowercase"`
	Either   string `json:"either" validate:"omitempty,alpha|numeric"`
	CI       string `json:"ci" validate:"omitempty,oneofci=Red Blue"`
}

type formatsType struct {
	Email    string `json:"email" validate:"omitempty,email"`
	URL      string `json:"url" validate:"omitempty,url"`
	URI      string `json:"uri" validate:"omitempty,uri"`
	HTTP     string `json:"http" validate:"omitempty,http_url"`
	UUID     string `json:"uuid" validate:"omitempty,uuid"`
	UUID4    string `json:"uuid4" validate:"omitempty,uuid4"`
	IPv4     string `json:"ipv4" validate:"omitempty,ipv4"`
	IPv6     string `json:"ipv6" validate:"omitempty,ipv6"`
	IP       string `json:"ip" validate:"omitempty,ip"`
	Host     string `json:"host" validate:"omitempty,hostname"`
	Host2    string `json:"host2" validate:"omitempty,hostname_rfc1123"`
	FQDN     string `json:"fqdn" validate:"omitempty,fqdn"`
	Date     string `json:"date" validate:"omitempty,datetime=2006-01-02"`
	Clock    string `json:"clock" validate:"omitempty,datetime=15:04"`
	Duration string `json:"duration" validate:"omitempty,duration"`
}

type numbersType struct {
	Req    int      `json:"req" validate:"required"`
	Range  int      `json:"range" validate:"min=1,max=30"`
	ReqMin int      `json:"reqmin" validate:"required,gte=-1"`
	Opt    int      `json:"opt" validate:"omitempty,gt=5,lt=9"`
	Free   int64    `json:"free"`
	Small  int8     `json:"small"`
	Short  int16    `json:"short" validate:"lte=5"`
	Un     uint     `json:"un" validate:"max=4"`
	UnReq  uint8    `json:"unreq" validate:"required"`
	Un64   uint64   `json:"un64"`
	Eq     int      `json:"eq" validate:"eq=3"`
	Ne     int      `json:"ne" validate:"ne=3"`
	Len    int      `json:"len" validate:"len=3"`
	One    int      `json:"one" validate:"oneof=1 2 3"`
	None   int      `json:"none" validate:"noneof=1 2"`
	Ptr    *int     `json:"ptr" validate:"omitempty,min=2"`
	Float  float64  `json:"float" validate:"gte=0,lt=1.5"`
	FReq   float64  `json:"freq" validate:"required"`
	FOpt   float64  `json:"fopt" validate:"omitempty,min=0.1"`
	FEq    float64  `json:"feq" validate:"omitempty,eq=0.1"`
	F32    float32  `json:"f32" validate:"max=0.1"`
	F32Raw float32  `json:"f32raw"`
	FPtr   *float64 `json:"fptr" validate:"omitempty,gt=0"`
	True   bool     `json:"true" validate:"required"`
	EqBool bool     `json:"eqbool" validate:"eq=false"`
	Bool   bool     `json:"bool"`
	BPtr   *bool    `json:"bptr" validate:"required"`
}

type inner struct {
	Name string `json:"name" validate:"required"`
	Kind string `json:"kind" validate:"omitempty,oneof=a b"`
}

type loose struct {
	A string `json:"a" validate:"max=2"`
	B *int   `json:"b"`
}

type base struct {
	ID  string `json:"id" validate:"required"`
	Tag string `json:"tag"`
}

type listsType struct {
	base
	Free    []string         `json:"free"`
	Req     []string         `json:"req" validate:"required"`
	Min     []int            `json:"min" validate:"min=1,max=2"`
	Opt     []int            `json:"opt" validate:"omitempty,min=1"`
	Zero    []int            `json:"zero" validate:"omitzero,min=2"`
	Len     []int            `json:"len" validate:"omitempty,len=2"`
	Ne      []int            `json:"ne" validate:"ne=1"`
	Unique  []string         `json:"unique" validate:"unique"`
	UniqueF []float64        `json:"uniquef" validate:"unique"`
	UniqueS []loose          `json:"uniques" validate:"unique"`
	Field   []inner          `json:"field" validate:"unique=Name"`
	Dive    []string         `json:"dive" validate:"dive,min=1,max=3"`
	DiveOpt []string         `json:"diveopt" validate:"dive,omitempty,email"`
	Deep    [][]int          `json:"deep" validate:"dive,max=2,dive,gt=0"`
	Items   []inner          `json:"items" validate:"max=2,dive"`
	Loose   []inner          `json:"loose"`
	PtrItem []*inner         `json:"ptritem" validate:"dive"`
	PtrReq  []*inner         `json:"ptrreq" validate:"dive,required"`
	Fixed   [2]int           `json:"fixed"`
	Bytes   []byte           `json:"bytes" validate:"omitempty,max=2"`
	PtrList *[]int           `json:"ptrlist" validate:"omitempty,min=1"`
	Map     map[string]int   `json:"map" validate:"omitempty,min=1,max=2"`
	Keys    map[string]int   `json:"keys" validate:"dive,keys,alpha,max=2,endkeys,min=1"`
	OnlyKey map[string]inner `json:"onlykey" validate:"dive,keys,len=1,endkeys"`
	MapDive map[string]inner `json:"mapdive" validate:"dive"`
	MapFree map[string]inner `json:"mapfree"`
	MapReq  map[named]string `json:"mapreq" validate:"required,dive,required"`
}

type structsType struct {
	Checked  inner    `json:"checked"`
	Loose    loose    `json:"loose"`
	Required loose    `json:"required" validate:"required"`
	Optional inner    `json:"optional" validate:"omitempty"`
	Ptr      *inner   `json:"ptr"`
	PtrReq   *inner   `json:"ptrreq" validate:"required"`
	PtrOmit  *inner   `json:"ptromit" validate:"omitempty"`
	Only     inner    `json:"only" validate:"structonly"`
	Skip     inner    `json:"skip" validate:"-"`
	Any      any      `json:"any"`
	AnyReq   any      `json:"anyreq" validate:"required"`
	Tree     *treeish `json:"tree"`
	Anon     struct {
		X int `json:"x" validate:"min=1"`
	} `json:"anon"`
}

type treeish struct {
	Value int       `json:"value" validate:"min=1"`
	Kids  []treeish `json:"kids" validate:"max=2,dive"`
	Left  *treeish  `json:"left"`
}

type foreignType struct {
	When    time.Time       `json:"when"`
	WhenReq time.Time       `json:"whenreq" validate:"required"`
	WhenOpt *time.Time      `json:"whenopt" validate:"omitempty"`
	Addr    netip.Addr      `json:"addr"`
	Raw     json.RawMessage `json:"raw"`
	Even    even            `json:"even"`
	Tagged  string          `json:"tagged" jsonschema:"enum=x,enum=y,maxLength=5"`
	Must    string          `json:"must" jsonschema:"required"`
}

// even has a decoder of its own, which reads even numbers.
type even int

func (e *even) UnmarshalJSON(b []byte) error {
	var n int
	if err := json.Unmarshal(b, &n); err != nil || n%2 != 0 {
		return fmt.Errorf("odd: %w", err)
	}
	*e = even(n)
	return nil
}

// values replace a member. They nearly keep the rules above.
var values = []string{
	`null`, `true`, `false`, `0`, `-0`, `-0.0`, `1`, `2`, `3`, `4`, `5`, `6`, `9`, `30`, `31`, `-1`, `-2`, `127`, `128`, `-129`, `255`, `256`, `1.0`, `2e0`,
	`1.5`, `0.1`, `0.10`, `0.09999999999999999999`, `0.1000000000001`, `1e2`, `1e-7`, `9223372036854775807`, `9223372036854775808`, `18446744073709551616`, `1e30`,
	`3.5e38`, `1e308`, `""`, `"a"`, `"b"`, `"ab"`, `"abc"`, `"abcd"`, `"äöü"`, `"äöüß"`, `"A"`, `"a b"`, `"b c"`, `"a."`, `".a"`, `"b]"`, `"^"`, `"-"`, `"]"`, `","`,
	`"a\n"`, `"\n"`, `"1"`, `"-1.5"`, `"+1"`, `"0x1F"`, `"x"`, `"y"`, `"+4912345678"`, `"RED"`, `"a@b.co"`, `"a@b"`, `"a b <a@b.co>"`, `"https://a.b"`, `"ftp:x"`,
	`"/a"`, `"a/b"`, `"123e4567-e89b-12d3-a456-426614174000"`, `"123E4567-E89B-42D3-A456-426614174000"`, `"1.2.3.4"`, `"1.2.3.256"`, `"::1"`, `"::ffff:1.2.3.4"`,
	`"-a.b"`, `"a.co."`, `"2024-02-30"`, `"2024-02-29"`, `"12:61"`, `"1h"`, `"2024-05-06T07:08:09Z"`, `"2024-05-06t07:08:09z"`, `"0001-01-01T00:00:00Z"`, `"YQ=="`,
	`"YWJj"`, `"YQ"`, `[]`, `[1]`, `[1,2]`, `[1,2,3]`, `[0]`, `["a"]`, `["a","a"]`, `["abcd",""]`, `[null]`, `[[1],[0]]`, `[[1,2,3]]`, `[1,1.0]`, `[0.1,0.10]`, `{}`,
	`{"a":1}`, `{"a":0}`, `{"ab":1,"b":2,"c":3}`, `{"a1":1}`, `{"a":""}`, `{"a":"b"}`, `{"a":{}}`, `{"a":{"name":""}}`, `{"name":""}`, `{"name":"a"}`, `{"name":"a","kind":""}`,
	`{"name":"a","kind":"c"}`, `[{"name":"a"}]`, `[{"name":"a"},{"name":"a"}]`, `[{"name":""}]`, `[{}]`, `[{},{}]`, `[{"a":""},{}]`, `{"value":1}`, `{"value":0}`, `{"x":0}`,
	`{"value":1,"kids":[{"value":1},{"value":1},{"value":1}]}`, `{"value":1,"left":{"value":0}}`, `{"value":1,"left":null}`, `{"a":"abc"}`, `{"b":null}`, `{"b":1}`,
}

// mixed has every kind of field there is.
type mixed struct {
	base
	Text   string             `json:"text,omitempty" validate:"omitempty,email"`
	Word   named              `json:"word" validate:"alpha|numeric"`
	Small  uint8              `json:"small" validate:"lt=200"`
	Long   int64              `json:"long"`
	Real   float64            `json:"real" validate:"omitempty,gt=0.1"`
	Short  float32            `json:"short"`
	Flag   *bool              `json:"flag"`
	Deep   **int              `json:"deep"`
	List   [][]string         `json:"list" validate:"dive,max=2,dive,min=1"`
	Set    []string           `json:"set" validate:"unique"`
	Texts  map[string]string  `json:"texts" validate:"dive,keys,lowercase,endkeys,required"`
	Reals  map[named]*float64 `json:"reals"`
	Any    any                `json:"any"`
	Bytes  []byte             `json:"bytes"`
	Pair   [2]int             `json:"pair"`
	Self   *mixed             `json:"self"`
	Kids   []mixed            `json:"kids" validate:"max=2,dive"`
	Named  map[string]inner   `json:"named" validate:"dive" retake:"echo"`
	Before int64              `json:"before" validate:"ltefield=Long"`
}

var mixedTypes = []bridged{
	bridgedOf[mixed]("mixed", ""), bridgedOf[order]("order", ""), bridgedOf[*treeish]("pointer", ""),
	bridgedOf[[]inner]("list", ""), bridgedOf[map[string]*inner]("map", ""),
}
