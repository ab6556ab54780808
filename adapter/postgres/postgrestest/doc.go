// Package postgrestest starts a PostgreSQL server for tests, with its files and its socket in a folder of its
// own, and kills and restarts it. It finds the programs of the server where Debian puts them, or in PATH.
package postgrestest
