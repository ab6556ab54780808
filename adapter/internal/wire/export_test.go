package wire

// CutTexts and OtherProtocols are the tables of texts.
var CutTexts, OtherProtocols = cutTexts, otherProtocols
