package postgrestest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrNone: there is no PostgreSQL on this machine.
var ErrNone = errors.New("no PostgreSQL server is installed (Debian: apt-get install postgresql)")

// Server is a running server. It is for one goroutine at a time.
type Server struct {
	dir, programs string
	// as says as whom the programs run; nil means as this process.
	as      *syscall.SysProcAttr
	process *exec.Cmd
	// log is what the server says until it is ready.
	log strings.Builder
}

// Start makes a database and starts its server. The error is [ErrNone] if none is installed.
func Start() (*Server, error) {
	programs, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "retake-postgres")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, programs: programs}
	if err = s.makeDatabase(); err == nil {
		err = s.run()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// find returns the folder of the server's programs.
func find() (string, error) {
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is right
	if path, err := exec.LookPath("initdb"); err == nil {
		all = append(all, path)
	}
	if len(all) == 0 {
		return "", ErrNone
	}
	path, err := filepath.EvalSymlinks(all[len(all)-1])
	return filepath.Dir(path), err
}

// makeDatabase makes the files of the server. They are not synced: they outlive a killed server, and no more
// is asked of them.
func (s *Server) makeDatabase() error {
	if err := s.leaveRoot(); err != nil {
		return err
	}
	made := s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if out, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.programs, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = s.as
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PG") }), "HOME="+s.dir, "LC_ALL=C")
	return cmd
}

// run starts the server and waits until it answers.
func (s *Server) run() error {
	s.process = s.command("postgres", "-D", s.data(), "-k", s.dir, "-h", "", "-F", "-N", "200", "-B", "16MB")
	said, err := s.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	s.log.Reset()
	in := bufio.NewReader(said)
	for {
		line, err := in.ReadString('\n')
		if s.log.WriteString(line); strings.Contains(line, "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, in) }() // it ends with the server
			return nil
		}
		if err != nil {
			return fmt.Errorf("postgres: %w: %s", s.process.Wait(), s.log.String())
		}
	}
}

// URL is a connection string of the server, with parameters by name and value.
func (s *Server) URL(params ...string) string {
	query := url.Values{"host": {s.dir}, "user": {"postgres"}}
	for n := 0; n+1 < len(params); n += 2 {
		query.Set(params[n], params[n+1])
	}
	return "postgres:///postgres?" + query.Encode()
}

// Kill ends the server at once, in the middle of whatever it does, as its crash would.
func (s *Server) Kill() error { return s.end(syscall.SIGQUIT) }

// Restart starts a server that was killed.
func (s *Server) Restart() error { return s.run() }

// Close ends the server and removes its folder.
func (s *Server) Close() error { return errors.Join(s.end(syscall.SIGQUIT), os.RemoveAll(s.dir)) }

func (s *Server) end(how syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	err := s.process.Process.Signal(how)
	_ = s.process.Wait() // its status says that it was told to end
	s.process = nil
	return err
}
