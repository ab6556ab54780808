// Package packed lays values one after the other into a text in which they need little room, and takes them out again: for what is
// kept by the thousand and seldom looked at. What is laid is told once, by a function that calls [Int], [Text], [Word], [Time] and
// [Flag] with a [Room]: it lays the values, or takes them in the same order.
//
// A text is only for the program that made it: it is neither checked nor kept from one version to the next.
package packed
