package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	healthWithin = 2 * time.Second
	headerWithin = 5 * time.Second
)

// Server answers /metrics and /healthz.
type Server struct {
	listener net.Listener
	http     *http.Server
	ended    chan struct{}
}

// Listen begins to serve at an address (HOST:PORT). healthy says, within its context, why the process does not work. Close the Server.
func Listen(address string, c *Collector, healthy func(context.Context) error) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--metrics: %s is in use by another program: give another address, as in --metrics 127.0.0.1:9161", address)
	case err != nil:
		return nil, fmt.Errorf("--metrics: cannot listen on %q: %w; give HOST:PORT, as in --metrics 127.0.0.1:9160", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(c.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), healthWithin)
		defer cancel()
		if err := healthy(ctx); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	s := &Server{listener, &http.Server{Handler: mux, ReadHeaderTimeout: headerWithin}, make(chan struct{})}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(listener) // until Close
	}()
	return s, nil
}

// Address is where it listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close ends it, with what it is answering.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.ended
	return err
}
