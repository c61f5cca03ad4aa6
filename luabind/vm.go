package luabind

import (
	"context"
	"log/slog"
	"math/rand/v2"

	lua "github.com/yuin/gopher-lua"
)

// vm is one Lua state with the spider loaded in it. One goroutine at a time uses it.
type vm struct {
	L         *lua.LState
	gen       *generation // nil in tests of modules
	logger    *slog.Logger
	spider    *lua.LTable                  // what the main file returned; nil while it runs
	defined   bool                         // all its files have run their top level
	names     map[*lua.LFunction]string    // the spider's functions
	loaded    map[string]lua.LValue        // modules by name
	loading   []string                     // modules being loaded, outermost first
	out       *collector                   // of the running call; nil outside of one
	interrupt *interrupt                   // nil in tests of modules
	running   *lua.LState                  // the state whose function runs
	spare     []*lua.LState                // states for protected calls
	depth     int                          // protected calls and coroutines running inside each other
	made      int                          // bytes of large values that the call has made,
	looked    int                          // and when the heap was last looked at
	text      []byte                       // the last large string that .. made in the call
	tasks     []luaTask                    // that the files have named with every
	broken    bool                         // it may not be used again
	random    *rand.Rand                   // nil until a script asks for a number
	requests  *lua.LTable                  // metatable of requests
	kinds     map[*lua.LTable]*declaration // declarations by the metatable of their items
	metas     map[*declaration]*lua.LTable // the other way round
	pipelines map[string]*lua.LTable       // the modules among the spider's pipelines
	opened    map[string]bool              // those whose open_spider was called
}

func init() { lua.MaxArrayIndex = 1 << 20 } // a table's array part stays below 16 MB

// maxSpare is how many states for protected calls a VM keeps from one call to the next.
const maxSpare = 4

// stateOptions keep a state near 45 KB. 200 calls deep is what the host's stack is safe with; 2 MB of registers bound unpack.
var stateOptions = lua.Options{
	SkipOpenLibs:        true,
	MinimizeStackMemory: true,
	CallStackSize:       200,
	RegistrySize:        256,
	RegistryGrowStep:    512,
	RegistryMaxSize:     128 << 10,
}

// newVM makes a state with the libraries that scripts may use, and no spider yet.
func newVM(gen *generation, logger *slog.Logger) *vm {
	v := &vm{
		L:         lua.NewState(stateOptions),
		gen:       gen,
		logger:    logger,
		loaded:    map[string]lua.LValue{},
		interrupt: &interrupt{},
	}
	v.interrupt.v = v
	v.L.SetContext(v.interrupt)
	v.openLibraries()
	return v
}

func (v *vm) close() {
	v.closePipelines()
	v.L.Close()
}

// call runs a function to its end or to that of ctx and returns its first result. Whatever happens in it ends here: the
// error is a *engine.ScriptError, or ctx's when that was cancelled from outside. v.broken says that the VM is done for.
func (v *vm) call(ctx context.Context, fn lua.LValue, args ...lua.LValue) (lua.LValue, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	end := v.interrupt.begin(ctx)
	defer end()
	v.watch().begin(v)
	defer v.watch().end(v)
	defer func() { v.text = nil }()
	v.running = v.L
	v.L.SetTop(0)
	v.depth, v.made, v.looked, v.loading = 0, 0, 0, v.loading[:0]
	if len(v.spare) > maxSpare { // a state may have grown to 2 MB
		v.spare = nil
	}
	v.L.Push(fn)
	for _, a := range args {
		v.L.Push(a)
	}
	if err := v.L.PCall(len(args), 1, nil); err != nil {
		return nil, v.explain(ctx, err)
	}
	result := v.L.Get(-1)
	v.L.SetTop(0)
	return result, nil
}
