package main

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	escapeLen = len(`\uXXXX`)
	mended    = `\ufffd`
)

// mendHalves writes U+FFFD for each half of a surrogate pair that stands alone in the escapes of a JSON text:
// no text can hold one, some models produce them, and one such reply must not keep all others of a corpus
// from being read.
func mendHalves(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\ud`)) && !bytes.Contains(text, []byte(`\uD`)) {
		return text
	}
	whole := bytes.Clone(text)
	for at := 0; at < len(whole); at++ {
		if whole[at] != '\\' {
			continue
		}
		first := escapeAt(whole, at)
		switch {
		case !utf16.IsSurrogate(first):
			at++ // the escaped character, which may be a backslash
		case utf16.DecodeRune(first, escapeAt(whole, at+escapeLen)) != utf8.RuneError:
			at += 2*escapeLen - 1
		default:
			copy(whole[at:], mended)
		}
	}
	return whole
}

// escapeAt is the code unit of the escape \uXXXX at an offset; 0 where none stands there.
func escapeAt(text []byte, at int) rune {
	if at+escapeLen > len(text) || text[at] != '\\' || text[at+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(text[at+2:at+escapeLen]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}
