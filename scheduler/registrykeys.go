package scheduler

// registryKeys are the keys of the registry: what the fleet shall run, and who runs it.
//
//	registry   hash    spider -> "<version> <entry as JSON>"
//	states     hash    spider -> running, paused, draining or stopped
//	version    string  grows with every change of the two
//	log:S      list    history of a spider, JSON, the newest last
//	revision:R string  manifest of a revision, by the first 12 hex digits of its ID
//	file:H     string  a file's content, by its SHA-256
//	workers    zset    worker -> until when it counts as alive (ms, Redis' clock)
//	reports    hash    worker -> what it says of itself, JSON
type registryKeys struct{ prefix string }

func (k registryKeys) registry() string          { return k.prefix + "registry" }
func (k registryKeys) states() string            { return k.prefix + "states" }
func (k registryKeys) version() string           { return k.prefix + "version" }
func (k registryKeys) workers() string           { return k.prefix + "workers" }
func (k registryKeys) reports() string           { return k.prefix + "reports" }
func (k registryKeys) spiders() string           { return k.prefix + "spiders" }
func (k registryKeys) changes() string           { return k.prefix + "changes" } // a channel
func (k registryKeys) log(spider string) string  { return k.prefix + "log:" + spider }
func (k registryKeys) file(sum string) string    { return k.prefix + "file:" + sum }
func (k registryKeys) revision(id string) string { return k.prefix + "revision:" + ShortRevision(id) }

// list are the KEYS of a registry script, in the order of scripts/parts/registry.lua: after those of the spider's crawl.
func (k registryKeys) list(crawl keyset, spider, revision string) []string {
	return append(crawl.list(), k.registry(), k.states(), k.version(), k.log(spider), k.workers(), k.reports(), k.revision(revision))
}

// registry names the registry's keys of this client's namespace.
func (c *Client) registry() registryKeys {
	if c.namespace == "" {
		return registryKeys{"luacrawl:"}
	}
	return registryKeys{"luacrawl:" + c.namespace + ":"}
}

// keysOf names all keys of a crawl, in this client's namespace.
func (c *Client) keysOf(k Keys, spider string) keyset {
	k.namespace = c.namespace
	return k.of(spider)
}
