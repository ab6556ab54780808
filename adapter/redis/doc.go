// Package redis keeps the records of a limiter in Redis, so that processes on many machines keep one limit
// together.
package redis
