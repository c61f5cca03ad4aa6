// Package export writes items to where people want them: databases and files.
package export

import "encoding/json"

// Record is one item on its way out.
type Record struct {
	ID       string          // item_id: the same each time the same page gives the same item; sinks upsert by it
	Spider   string          // name
	Revision string          // that made it
	Kind     string          // name of the declaration that it follows, "" without one
	JSON     json.RawMessage // the item: one flat JSON object in UTF-8, keys sorted, & < > not escaped
}
