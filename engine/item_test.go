package engine

import "testing"

func TestItemIDsDiffer(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for name, id := range map[string]string{
		"seed 1 item 10":   ItemID("s", nil, []byte("1"), ItemInfo{Number: 10}),
		"seed 11 item 0":   ItemID("s", nil, []byte("11"), ItemInfo{Number: 0}),
		"seed 110 item 0":  ItemID("s", nil, []byte("110"), ItemInfo{Number: 0}),
		"spider s1 seed 1": ItemID("s1", nil, []byte("1"), ItemInfo{Number: 0}),
		"kind and key":     ItemID("s", nil, []byte("1"), ItemInfo{Kind: "a", Key: "b"}),
		"seed with a kind": ItemID("s", nil, []byte("1a"), ItemInfo{Key: "b"}),
	} {
		if other := ids[id]; other != "" {
			t.Errorf("%s and %s have one ID", name, other)
		}
		ids[id] = name
	}
}
