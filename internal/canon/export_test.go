package canon

// Slowly is JSON by the library alone.
var Slowly = slowly
