package canon

// Slowly is JSON by the library alone.
var Slowly = slowly

// IsCanonical is what is looked at first where a text is appended.
var IsCanonical = isCanonical
