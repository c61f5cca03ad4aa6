package export

// Type is what a declared field holds.
type Type string

// Types of fields.
const (
	String  Type = "string"
	Number  Type = "number"  // float64
	Integer Type = "integer" // int64
	Boolean Type = "boolean"
	Time    Type = "time" // RFC 3339 text in the item
	JSON    Type = "json" // anything: lists and tables
)

// Field is one declared field of an item.
type Field struct {
	Name     string
	Type     Type
	Required bool
	Key      bool // part of what identifies the item
}

// Schema is the declaration of a kind of items, fields in the order of the file.
type Schema struct {
	Name   string
	Fields []Field
}
