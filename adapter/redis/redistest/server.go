package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNone: there is no Redis on this machine.
var ErrNone = errors.New("no Redis server is installed (Debian: apt-get install redis-server)")

// Server is a running server. It keeps nothing on the disk. It is for one goroutine at a time.
type Server struct {
	dir, program string
	process      *exec.Cmd
}

// Start starts a server. The error is [ErrNone] if none is installed.
func Start() (*Server, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNone
	}
	dir, err := os.MkdirTemp("", "retake-redis")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, program: program}
	if err := s.Restart(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// Socket is the path of the socket that the server listens on.
func (s *Server) Socket() string { return filepath.Join(s.dir, "redis.sock") }

// Restart starts a server that was killed, and waits until it answers. It has lost all records.
func (s *Server) Restart() error {
	s.process = exec.Command(s.program, "--port", "0", "--unixsocket", s.Socket(), "--unixsocketperm", "700", "--save", "",
		"--dir", s.dir, "--daemonize", "no")
	said, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	var log strings.Builder
	in := bufio.NewReader(said)
	for {
		line, err := in.ReadString('\n')
		if log.WriteString(line); strings.Contains(line, "accept connections at") || strings.Contains(line, "Ready to accept connections unix") {
			go func() { _, _ = io.Copy(io.Discard, in) }() // it ends with the server
			return nil
		}
		if err != nil {
			return fmt.Errorf("redis-server: %w: %s", s.process.Wait(), log.String())
		}
	}
}

// Kill ends the server at once, in the middle of whatever it does, as its crash would.
func (s *Server) Kill() error {
	if s.process == nil {
		return nil
	}
	err := s.process.Process.Kill()
	_ = s.process.Wait() // its status says that it was killed
	s.process = nil
	return err
}

// Close ends the server and removes its folder.
func (s *Server) Close() error { return errors.Join(s.Kill(), os.RemoveAll(s.dir)) }
