package export

// SinkConfig is a sink as a spider's pipelines name it.
type SinkConfig struct {
	Name    string         // of the kind: sql, feed and the like
	Order   float64        // place among the pipelines
	Options map[string]any // numbers, strings, booleans, lists and tables of them
}
