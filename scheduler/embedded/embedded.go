// Package embedded runs miniredis inside the process, with a snapshot on disk, so that a crawl needs no service.
package embedded

import (
	"context"
	"errors"
	"log/slog"
)

// Options say where the embedded Redis lives.
type Options struct {
	Dir    string // holds snapshot, address and lock; "" keeps everything in memory
	Port   int    // first port to try on 127.0.0.1; 0 takes any free one
	Logger *slog.Logger
}

// Server is a miniredis of this process, or one of another process in the same folder that this one has joined.
type Server struct{}

// Start serves the folder's Redis, or joins the process that already does.
func Start(ctx context.Context, o Options) (*Server, error) { return nil, errors.New("stub") }

// Addr is host:port.
func (s *Server) Addr() string { return "" }

// URL is the redis:// URL of the server.
func (s *Server) URL() string { return "" }

// Joined reports that another process serves it.
func (s *Server) Joined() bool { return false }

// Run takes a snapshot every few seconds until ctx ends.
func (s *Server) Run(ctx context.Context) error { return nil }

// Close takes a last snapshot and stops serving.
func (s *Server) Close() error { return nil }

// Find returns the address of a live server in the folder, or serves its snapshot read-only for one command.
func Find(ctx context.Context, dir string) (*Server, error) { return nil, errors.New("stub") }
