package luabind_test

import (
	"testing"

	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

// TestAKeptRequestIsCopied: a request in a global that is emitted by one call after another is another one for the engine each time, of the
// depth that it has there.
func TestAKeptRequestIsCopied(t *testing.T) {
	t.Parallel()
	f := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: `
local spider = { name = "test" }
local kept = request { url = "http://x.test/next", meta = { n = 0 } }
local list
function spider.parse(response)
  list = list or response:follow_all({ "/a", "/b" })
  kept.meta.n = kept.meta.n + 1
  emit(kept)
  emit(kept)
  emit(list)
  emit { depth = kept.depth }
end
return spider`})
	seen := map[*scheduler.Request]scheduler.Request{}
	for depth := range 4 {
		out, err := f.Callback(&scheduler.Request{URL: "http://site.test/", Depth: depth}, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Requests) != 4 || out.Requests[0] == out.Requests[1] {
			t.Fatalf("requests %v", out.Requests)
		}
		for _, r := range out.Requests {
			if before, ok := seen[r]; ok {
				t.Errorf("call %d emits the very request that an earlier call gave to the engine: %+v", depth, before)
			}
			if r.Depth != depth+1 || r.Revision != out.Revision {
				t.Errorf("call %d emits depth %d, revision %q", depth, r.Depth, r.Revision)
			}
			seen[r] = *r
		}
	}
	for r, before := range seen {
		if r.Depth != before.Depth || string(r.Meta) != string(before.Meta) {
			t.Errorf("%+v became %+v", before, r)
		}
	}
}
