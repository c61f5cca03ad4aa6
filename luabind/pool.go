package luabind

import "sync"

// maxIdle is how many unused VMs a generation keeps.
const maxIdle = 64

// pool keeps the VMs of a generation that are not in use. The one used last is taken first, so that few stay warm.
type pool struct {
	mu     sync.Mutex
	idle   []*vm // guarded by mu
	closed bool  // guarded by mu
}

// take returns a VM with the spider loaded in it.
func (g *generation) take() (*vm, error) {
	g.pool.mu.Lock()
	if n := len(g.pool.idle); n > 0 {
		v := g.pool.idle[n-1]
		g.pool.idle[n-1] = nil
		g.pool.idle = g.pool.idle[:n-1]
		g.pool.mu.Unlock()
		return v, nil
	}
	g.pool.mu.Unlock()
	return g.newVM()
}

// give takes a VM back. One that is broken, or that nobody will ask for, is closed.
func (g *generation) give(v *vm) {
	g.pool.mu.Lock()
	keep := !v.broken && !g.pool.closed && len(g.pool.idle) < maxIdle
	if keep {
		g.pool.idle = append(g.pool.idle, v)
	}
	g.pool.mu.Unlock()
	if !keep {
		v.close()
	}
}

// close ends the idle VMs; those in use end when they are given back.
func (g *generation) close() {
	g.pool.mu.Lock()
	idle := g.pool.idle
	g.pool.idle, g.pool.closed = nil, true
	g.pool.mu.Unlock()
	for _, v := range idle {
		v.close()
	}
}
