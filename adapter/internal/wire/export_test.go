package wire

// CutTexts and OtherProtocols are the tables of texts.
var CutTexts, OtherProtocols = cutTexts, otherProtocols

// QuirkNames returns all names in the table of quirks.
func QuirkNames() (all []string) {
	for _, row := range quirks {
		all = append(all, row.names...)
	}
	return all
}
