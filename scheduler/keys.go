package scheduler

import (
	"cmp"
	"strings"
)

// Keys are the four key names that can be set; each may hold %(spider)s, which becomes the spider's name.
// The zero value means scrapy-redis' names.
type Keys struct {
	StartURLs, Requests, Dupefilter, Items string

	// Cluster puts the spider's name into braces, so that all keys of a spider share a hash slot of a Redis Cluster.
	Cluster bool

	namespace string // of the client: stands before the spider's name
}

// DefaultKeys are scrapy-redis' names.
func DefaultKeys() Keys {
	return Keys{
		StartURLs: "%(spider)s:start_urls", Requests: "%(spider)s:requests",
		Dupefilter: "%(spider)s:dupefilter", Items: "%(spider)s:items",
	}
}

// keyset are the names of all keys of one spider.
type keyset struct {
	startURLs, requests, dupefilter, items, delayed, slots, busy, rules string
	leases, inflight, commits, dead, stats, meta, workers, robots       string
	pages, holds, throttle, cookies, cookieChanges                      string

	itemsType string // that items must have: list or stream; "" for who reads both
}

func (k Keys) of(spider string) keyset {
	s := spider
	if k.namespace != "" {
		s = k.namespace + ":" + spider
	}
	if k.Cluster {
		s = "{" + s + "}"
	}
	def := DefaultKeys()
	name := func(pattern, def string) string {
		if pattern == "" {
			pattern = def
		}
		return strings.ReplaceAll(pattern, "%(spider)s", s)
	}
	return keyset{
		startURLs: name(k.StartURLs, def.StartURLs), requests: name(k.Requests, def.Requests),
		dupefilter: name(k.Dupefilter, def.Dupefilter), items: name(k.Items, def.Items),
		delayed: s + ":delayed", slots: s + ":slots", busy: s + ":busy", rules: s + ":rules",
		leases: s + ":leases", inflight: s + ":inflight", commits: s + ":commits",
		dead: s + ":dead", stats: s + ":stats", meta: s + ":meta", workers: s + ":workers",
		robots: s + ":robots", pages: s + ":pages", holds: s + ":holds", throttle: s + ":throttle",
		cookies: s + ":cookies", cookieChanges: s + ":cookies_changed",
	}
}

// queue is the key of a slot's queue.
func (k keyset) queue(slot string) string {
	if slot == "" {
		return k.requests
	}
	return k.requests + ":" + slot
}

// list are the KEYS of every script, in the order of scripts/parts/keys.lua.
func (k keyset) list() []string {
	return []string{
		k.meta, k.stats, k.slots, k.busy, k.rules, k.leases, k.inflight, k.commits, k.delayed, k.requests,
		k.dupefilter, k.items, k.dead, k.startURLs, k.workers, k.pages, k.holds, k.throttle,
		k.cookies, k.cookieChanges,
	}
}

// types say what each key must hold: a type, or several with " or " between them.
func (k keyset) types() map[string]string {
	return map[string]string{
		k.requests: "zset", k.dupefilter: "set", k.items: cmp.Or(k.itemsType, "list or stream"), k.delayed: "zset", k.slots: "zset", k.busy: "hash",
		k.rules: "hash", k.leases: "zset", k.inflight: "hash", k.commits: "hash", k.dead: "list", k.stats: "hash",
		k.meta: "hash", k.workers: "zset", k.robots: "hash", k.pages: "hash", k.holds: "zset", k.throttle: "hash",
		k.cookies: "hash", k.cookieChanges: "zset",
		k.items + ":consumers": "zset",
	}
}
