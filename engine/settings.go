package engine

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"luacrawl/scheduler"
)

// Settings of one crawl. DefaultSettings has the defaults; Apply merges a layer over them; Validate checks the whole.
type Settings struct {
	// Per fleet: every worker of a crawl uses the same.
	Partition                   scheduler.Partition
	Queue                       scheduler.Queue
	Keys                        scheduler.Keys
	DownloadDelay               time.Duration // between two starts in a slot
	RandomizeDownloadDelay      bool          // up to half as much again
	ConcurrentRequestsPerDomain int           // requests of a slot in flight
	ConcurrentRequestsTotal     int           // requests of the whole fleet in flight; 0: no limit
	Throttling                  scheduler.Throttling
	DownloadSlots               scheduler.SlotRules
	CloseSpiderPageCountPerSlot int64         // responses for callbacks of a slot; 0: off
	Lease                       time.Duration // how long a request stays with a worker that gives no sign
	LeaseAttempts               int           // leases of a request that may end without an outcome
	SchedulerPersist            bool          // keep queue and filter when the last worker closes
	FlushOnStart                bool
	MaxPending                  int64 // no seeds are taken in above this

	// Per worker.
	ConcurrentRequests    int
	RedisBatchSize        int // seeds taken in at a time
	DownloadTimeout       time.Duration
	DownloadMaxsize       int64 // of a body, decoded, bytes
	RetryTimes            int
	RetryHTTPCodes        []int // of responses that are tried again
	RetryPriorityAdjust   int
	BackoffHTTPCodes      []int // of responses that slow their site down
	RedirectMaxTimes      int
	DepthLimit            int // 0: none
	URLLengthLimit        int // 0: none
	HandleHTTPStatusList  []int
	HandleHTTPStatusAll   bool
	DupefilterDebug       bool
	AutothrottleDebug     bool
	UserAgent             string
	DefaultRequestHeaders http.Header // canonical names
	RefererEnabled        bool
	ReferrerPolicy        string
	HTTPUser, HTTPPass    string // sent to HTTPAuthDomain and below it, and nowhere else
	HTTPAuthDomain        string
	CallbackTimeout       time.Duration
	CallbackMemory        int64 // bytes
	MemoryLimit           int64 // of the process, bytes
	Grace                 time.Duration
	LogLevel              string
	MaxIdleTime           time.Duration // 0: wait for ever
	Timeout               time.Duration // of the whole run; 0: none
	CloseSpiderPageCount  int64         // of the whole crawl since its last flush; 0: off
	CloseSpiderItemCount  int64
	CloseSpiderErrorCount int64
	RobotstxtObey         bool
	CookiesEnabled        bool
	CookiesDebug          bool // log names and attributes of what is sent and received
	RobotsMetaObey        bool
	AllowPrivateAddresses bool
	SinkBuffer            int                     // pages that may wait for a sink beyond those in flight
	AllowAddresses        []netip.Prefix          // that may be connected to though they are not public
	Resolve               map[string][]netip.Addr // addresses of names that the DNS is not asked for
	Proxies               []*url.URL              // taken in turn
	ItemMeta              bool                    // add revision and item_id to each item
}

// DefaultSettings are the settings before any layer.
func DefaultSettings() Settings {
	return Settings{
		Partition:                   scheduler.PartitionHost,
		Queue:                       scheduler.QueuePriority,
		ConcurrentRequestsPerDomain: 8,
		Throttling:                  scheduler.Throttling{StartDelay: 5 * time.Second, MaxDelay: time.Minute, TargetConcurrency: 1},
		Lease:                       time.Minute,
		LeaseAttempts:               5,
		SchedulerPersist:            true,
		MaxPending:                  100_000,
		ConcurrentRequests:          16,
		RedisBatchSize:              16,
		DownloadTimeout:             time.Minute,
		DownloadMaxsize:             32 << 20,
		RetryTimes:                  2,
		RetryHTTPCodes:              []int{500, 502, 503, 504, 522, 524, 408, 429},
		RetryPriorityAdjust:         -1,
		BackoffHTTPCodes:            []int{429, 503},
		RedirectMaxTimes:            20,
		URLLengthLimit:              2083,
		UserAgent:                   "luacrawl",
		RefererEnabled:              true,
		ReferrerPolicy:              "no-referrer-when-downgrade",
		CallbackTimeout:             5 * time.Second,
		CallbackMemory:              64 << 20,
		MemoryLimit:                 2 << 30,
		Grace:                       30 * time.Second,
		LogLevel:                    "info",
		RobotstxtObey:               true,
		CookiesEnabled:              true,
		SinkBuffer:                  200,
	}
}

// setting is one name that Apply knows.
type setting struct {
	name  string
	fleet bool
	unit  string // what a number means, for the listing
	doc   string
	set   func(s *Settings, v any) error
}

// settingTable is the one list of settings, in the order in which they are shown.
var settingTable = []setting{
	{"partition", true, "host, domain or none", "what shares a slot, the unit of politeness", oneOf(func(s *Settings) *scheduler.Partition { return &s.Partition }, scheduler.PartitionHost, scheduler.PartitionDomain, scheduler.PartitionNone)},
	{"queue", true, "priority, fifo or lifo", "order of requests within a slot", oneOf(func(s *Settings) *scheduler.Queue { return &s.Queue }, scheduler.QueuePriority, scheduler.QueueFIFO, scheduler.QueueLIFO)},
	{"start_urls_key", true, "key", "default %(spider)s:start_urls", text(func(s *Settings) *string { return &s.Keys.StartURLs })},
	{"requests_key", true, "key", "default %(spider)s:requests", text(func(s *Settings) *string { return &s.Keys.Requests })},
	{"dupefilter_key", true, "key", "default %(spider)s:dupefilter", text(func(s *Settings) *string { return &s.Keys.Dupefilter })},
	{"items_key", true, "key", "default %(spider)s:items", text(func(s *Settings) *string { return &s.Keys.Items })},
	{"download_delay", true, "seconds", "between two starts in a slot, for the whole fleet", duration(func(s *Settings) *time.Duration { return &s.DownloadDelay }, 0, day)},
	{"randomize_download_delay", true, "true or false", "make each delay longer by a random part, up to half", flag(func(s *Settings) *bool { return &s.RandomizeDownloadDelay })},
	{"concurrent_requests_per_domain", true, "requests", "of a slot in flight, for the whole fleet", count(func(s *Settings) *int { return &s.ConcurrentRequestsPerDomain }, 1, 10_000)},
	{"concurrent_requests_total", true, "requests", "in flight in the whole fleet; 0 for no limit", count(func(s *Settings) *int { return &s.ConcurrentRequestsTotal }, 0, 1_000_000)},
	{"autothrottle_enabled", true, "true or false", "set each slot's delay by its site's latency, never below download_delay", flag(func(s *Settings) *bool { return &s.Throttling.ByLatency })},
	{"autothrottle_start_delay", true, "seconds", "delay by latency of a slot of which nothing is known", duration(func(s *Settings) *time.Duration { return &s.Throttling.StartDelay }, 0, day)},
	{"autothrottle_max_delay", true, "seconds", "that latency and refusals slow a slot down to", duration(func(s *Settings) *time.Duration { return &s.Throttling.MaxDelay }, time.Millisecond, day)},
	{"autothrottle_target_concurrency", true, "requests", "of a slot in flight that delays by latency aim at, for the whole fleet", decimal(func(s *Settings) *float64 { return &s.Throttling.TargetConcurrency }, 0.001, 10_000)},
	{"download_slots", true, "table of sites", "delay, concurrency and randomize_delay of single sites; JSON on the command line", downloadSlots},
	{"closespider_pagecount_per_slot", true, "pages", "of a slot that callbacks get, after which its other requests are dropped; 0 for off", count(func(s *Settings) *int64 { return &s.CloseSpiderPageCountPerSlot }, 0, 1<<50)},
	{"lease", true, "seconds", "how long a request stays with a worker that gives no sign of life", duration(func(s *Settings) *time.Duration { return &s.Lease }, 500*time.Millisecond, day)},
	{"lease_attempts", true, "times", "leases of a request that may end without an outcome before it is dead", count(func(s *Settings) *int { return &s.LeaseAttempts }, 1, 250)},
	{"scheduler_persist", true, "true or false", "keep queue and filter when the last worker closes", flag(func(s *Settings) *bool { return &s.SchedulerPersist })},
	{"flush_on_start", true, "true or false", "empty queue and filter first", flag(func(s *Settings) *bool { return &s.FlushOnStart })},
	{"max_pending", true, "requests", "no seeds are taken in while more wait", count(func(s *Settings) *int64 { return &s.MaxPending }, 1, 1<<40)},
	{"concurrent_requests", false, "requests", "in flight in this worker", count(func(s *Settings) *int { return &s.ConcurrentRequests }, 1, 10_000)},
	{"redis_batch_size", false, "seeds", "taken in at a time", count(func(s *Settings) *int { return &s.RedisBatchSize }, 1, 1000)},
	{"download_timeout", false, "seconds", "of a whole download", duration(func(s *Settings) *time.Duration { return &s.DownloadTimeout }, time.Millisecond, day)},
	{"download_maxsize", false, "bytes", "of a decoded body; a larger one is an error", size(func(s *Settings) *int64 { return &s.DownloadMaxsize }, 1, 128<<20)},
	{"retry_times", false, "times", "a failed download is tried again", count(func(s *Settings) *int { return &s.RetryTimes }, 0, 1000)},
	{"retry_http_codes", false, "status codes", "of responses that are tried again; empty for none", codes(func(s *Settings) *[]int { return &s.RetryHTTPCodes })},
	{"retry_priority_adjust", false, "number", "added to the priority of a request that is tried again", count(func(s *Settings) *int { return &s.RetryPriorityAdjust }, -1_000_000, 1_000_000)},
	{"backoff_http_codes", false, "status codes", "that slow a site down for the whole fleet until it takes pages again; empty for none", codes(func(s *Settings) *[]int { return &s.BackoffHTTPCodes })},
	{"redirect_max_times", false, "redirects", "followed in a row", count(func(s *Settings) *int { return &s.RedirectMaxTimes }, 0, 1000)},
	{"depth_limit", false, "links", "followed from a seed; 0 for no limit", count(func(s *Settings) *int { return &s.DepthLimit }, 0, 1<<31-1)},
	{"urllength_limit", false, "bytes", "of a URL; 0 for no limit", count(func(s *Settings) *int { return &s.URLLengthLimit }, 0, 1<<31-1)},
	{"handle_httpstatus_list", false, "status codes", "that callbacks get beside 2xx", codes(func(s *Settings) *[]int { return &s.HandleHTTPStatusList })},
	{"handle_httpstatus_all", false, "true or false", "callbacks get every status", flag(func(s *Settings) *bool { return &s.HandleHTTPStatusAll })},
	{"dupefilter_debug", false, "true or false", "log every duplicate, not only the first", flag(func(s *Settings) *bool { return &s.DupefilterDebug })},
	{"autothrottle_debug", false, "true or false", "log each change of a site's delay that an answer makes, with its latency and size", flag(func(s *Settings) *bool { return &s.AutothrottleDebug })},
	{"user_agent", false, "text", "the User-Agent header: name yourself and how to reach you", text(func(s *Settings) *string { return &s.UserAgent })},
	{"default_request_headers", false, "table of texts", "sent with requests that have no such header; JSON on the command line", defaultHeaders},
	{"referer_enabled", false, "true or false", "send the page that a link was found on as Referer", flag(func(s *Settings) *bool { return &s.RefererEnabled })},
	{"referrer_policy", false, "W3C policy", "how much of it to whom; the page's header and meta.referrer_policy win", oneOf(func(s *Settings) *string { return &s.ReferrerPolicy }, referrerPolicies...)},
	{"http_user", false, "text", "user of HTTP basic authentication", secret(func(s *Settings) *string { return &s.HTTPUser })},
	{"http_pass", false, "text", "its password", secret(func(s *Settings) *string { return &s.HTTPPass })},
	{"http_auth_domain", false, "domain", "that gets http_user and http_pass, with the hosts below it", authDomain},
	{"callback_timeout", false, "seconds", "of one call into the spider", duration(func(s *Settings) *time.Duration { return &s.CallbackTimeout }, time.Millisecond, day)},
	{"callback_memory", false, "bytes", "that one value made by a call may take", size(func(s *Settings) *int64 { return &s.CallbackMemory }, 1<<20, 1<<40)},
	{"memory_limit", false, "bytes", "that the process may hold; past it the calls that have run longest are ended", size(func(s *Settings) *int64 { return &s.MemoryLimit }, 64<<20, 1<<50)},
	{"grace", false, "seconds", "that running pages get when the worker is asked to stop", duration(func(s *Settings) *time.Duration { return &s.Grace }, 0, day)},
	{"log_level", false, "debug, info, warn or error", "what is logged", oneOf(func(s *Settings) *string { return &s.LogLevel }, "debug", "info", "warn", "error")},
	{"max_idle_time", false, "seconds", "without work after which the worker ends; 0 to wait for ever", duration(func(s *Settings) *time.Duration { return &s.MaxIdleTime }, 0, 3650*day)},
	{"timeout", false, "seconds", "of the whole run; 0 for none", duration(func(s *Settings) *time.Duration { return &s.Timeout }, 0, 3650*day)},
	{"closespider_pagecount", false, "pages", "of the whole crawl after which it ends; 0 for off", count(func(s *Settings) *int64 { return &s.CloseSpiderPageCount }, 0, 1<<62)},
	{"closespider_itemcount", false, "items", "of the whole crawl after which it ends; 0 for off", count(func(s *Settings) *int64 { return &s.CloseSpiderItemCount }, 0, 1<<62)},
	{"closespider_errorcount", false, "errors", "of callbacks in the whole crawl after which it ends; 0 for off", count(func(s *Settings) *int64 { return &s.CloseSpiderErrorCount }, 0, 1<<62)},
	{"robotstxt_obey", false, "true or false", "keep out of what a site's robots.txt forbids, and keep its crawl-delay", flag(func(s *Settings) *bool { return &s.RobotstxtObey })},
	{"cookies_enabled", false, "true or false", "keep cookies and send them, for the whole fleet; meta.cookiejar names a jar of its own", flag(func(s *Settings) *bool { return &s.CookiesEnabled })},
	{"cookies_debug", false, "true or false", "log the cookies of each request and response: names and attributes, never values", flag(func(s *Settings) *bool { return &s.CookiesDebug })},
	{"robots_meta_obey", false, "true or false", "take no items from pages that say noindex, and no requests from those that say nofollow", flag(func(s *Settings) *bool { return &s.RobotsMetaObey })},
	{"allow_private_addresses", false, "true or false", "connect to loopback, private, metadata and all other addresses", flag(func(s *Settings) *bool { return &s.AllowPrivateAddresses })},
	{"allow_addresses", false, "addresses and ranges", "that may be connected to though they are not public, as in 10.1.0.0/16", allowAddresses},
	{"resolve", false, "list of HOST=ADDRESS", "addresses of names that the DNS is not asked for", resolve},
	{"proxies", false, "list of URLs", "taken in turn, one that fails rests; http, https, socks5", proxies},
	{"sink_buffer", false, "pages", "that may wait for a sink beyond those in flight", count(func(s *Settings) *int { return &s.SinkBuffer }, 0, 100_000)},
	{"item_meta", false, "true or false", "add revision and item_id to each item", flag(func(s *Settings) *bool { return &s.ItemMeta })},
}

const day = 24 * time.Hour

// Apply sets values by their names: numbers, strings, booleans, lists of these and tables of strings. A number is in the setting's unit; a string
// may carry its own ("5s", "8MB"). source names the layer in errors ("spiders/a.lua", "--set", "LUACRAWL_LEASE").
func (s *Settings) Apply(source string, values map[string]any) error {
	for name, v := range values {
		def := findSetting(name)
		if def == nil {
			return fmt.Errorf("%s: %w", source, unknownSetting(name))
		}
		if err := def.set(s, v); err != nil {
			return fmt.Errorf("%s: %w", source, badSetting(name, err))
		}
	}
	return nil
}

// Validate checks what no single value shows.
func (s *Settings) Validate() error {
	return s.checkAuth()
}

func unknownSetting(name string) error {
	return fmt.Errorf("unknown setting %q%s", name, suggestSetting(name))
}

func badSetting(name string, err error) error { return fmt.Errorf("setting %s: %w", name, err) }

func findSetting(name string) *setting {
	for i := range settingTable {
		if settingTable[i].name == name {
			return &settingTable[i]
		}
	}
	return nil
}

// SettingDoc describes one setting for a person.
type SettingDoc struct {
	Name, Unit, Doc string
	Fleet           bool // the same for every worker of a crawl
	Live            bool // a crawl that runs takes an edit of it over; any other holds from the next start on
}

// SettingDocs lists all settings in their order.
func SettingDocs() []SettingDoc {
	docs := make([]SettingDoc, len(settingTable))
	for i, d := range settingTable {
		docs[i] = SettingDoc{d.name, d.unit, d.doc, d.fleet, slices.Contains(liveSettings, d.name)}
	}
	return docs
}

// IsFleetSetting reports whether all workers of a crawl agree on a setting.
func IsFleetSetting(name string) bool {
	def := findSetting(name)
	return def != nil && def.fleet
}

// suggestSetting is the tail of an error for a name that is none.
func suggestSetting(name string) string {
	names := make([]string, len(settingTable))
	for i, d := range settingTable {
		names[i] = d.name
	}
	if near := Nearest(name, names); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return "; README.md lists the settings"
}
