// Package look has what the styles and scripts of all pages share.
package look

import _ "embed"

// CSS has the colours, and what keyboards and screen readers need. It comes before the styles of a page.
//
//go:embed base.css
var CSS string

// JS writes durations, and listens to keys. It comes before the script of a page.
//
//go:embed base.js
var JS string
