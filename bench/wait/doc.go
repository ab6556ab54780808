// Package wait measures the cost of a waiting session. Everything is in its tests.
package wait
