package engine

import (
	"errors"
	"time"

	"luacrawl/scheduler"
)

// Settings of one crawl. DefaultSettings has the defaults; Apply merges a layer over them.
type Settings struct {
	// per fleet
	Partition                   scheduler.Partition
	Queue                       scheduler.Queue
	Keys                        scheduler.Keys
	DownloadDelay               time.Duration
	ConcurrentRequestsPerDomain int
	Lease                       time.Duration
	LeaseAttempts               int
	SchedulerPersist            bool
	FlushOnStart                bool
	MaxPending                  int64

	// per worker
	ConcurrentRequests    int
	RedisBatchSize        int
	DownloadTimeout       time.Duration
	DownloadMaxsize       int64
	RetryTimes            int
	DepthLimit            int
	URLLengthLimit        int
	DupefilterDebug       bool
	UserAgent             string
	CallbackTimeout       time.Duration
	CallbackMemory        int64
	Grace                 time.Duration
	LogLevel              string
	MaxIdleTime           time.Duration
	Timeout               time.Duration
	CloseSpiderPageCount  int64
	CloseSpiderItemCount  int64
	CloseSpiderErrorCount int64
	RobotstxtObey         bool
	AllowPrivateAddresses bool
	ItemMeta              bool
	HTTPErrorAllowAll     bool
	HTTPErrorAllowedCodes []int
	RedirectMaxTimes      int
}

// DefaultSettings are the settings before any layer.
func DefaultSettings() Settings { return Settings{} }

// Apply sets values by their names. Values are numbers, strings and booleans; a string may be "5s" or "8MB". source names the layer in errors
// ("spiders/a.lua", "--set", "LUACRAWL_X"). An unknown name is an error with a suggestion.
func (s *Settings) Apply(source string, values map[string]any) error { return errors.New("stub") }

// Validate checks values against each other and against what is built.
func (s *Settings) Validate() error { return nil }
