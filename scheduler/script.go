package scheduler

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed scripts
var scriptFiles embed.FS

// script is one embedded Lua script: the parts that it uses, then its own file. Each file's header says what
// KEYS, ARGV and the reply are.
type script struct {
	name, source, sha string
}

// scripts are all scripts, for loading.
var scripts []*script

func newScript(name string, parts ...string) *script {
	var b strings.Builder
	for _, part := range append([]string{"keys"}, parts...) {
		b.WriteString(mustRead("scripts/parts/" + part + ".lua"))
	}
	b.WriteString(mustRead("scripts/" + name + ".lua"))
	sum := sha1.Sum([]byte(b.String()))
	s := &script{name: name, source: b.String(), sha: hex.EncodeToString(sum[:])}
	scripts = append(scripts, s)
	return s
}

// mustRead reads an embedded file; a name that is not embedded is a mistake in this file.
func mustRead(name string) string {
	b, err := scriptFiles.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

var (
	leaseScript   = newScript("lease", "record", "letters", "push", "free", "giveback", "rules", "budget", "throttle", "room")
	commitScript  = newScript("commit", "record", "letters", "push", "free", "budget", "rules", "pace", "throttle", "answers", "cookieguard", "cookies")
	extendScript  = newScript("extend")
	releaseScript = newScript("release", "record", "letters", "push", "free", "giveback")
	landScript    = newScript("land", "record", "free")
	refillScript  = newScript("refill")
	doneScript    = newScript("done", "left")
	finishScript  = newScript("finish", "left")
	flushScript   = newScript("flush", "flush", "consumers", "registry")
	joinScript    = newScript("join", "flush", "rules", "filerules", "total")
	leaveScript   = newScript("leave", "flush")
	agreeScript   = newScript("agree", "registry", "rules", "filerules", "total")
	seedScript    = newScript("seed")
	statusScript  = newScript("status", "left", "consumers")
	requeueScript = newScript("requeue", "push", "strike")
	dropScript    = newScript("drop", "strike")
	forgetScript  = newScript("forget")
	flipScript    = newScript("flip", "registry")
	controlScript = newScript("control", "registry", "total")
	reportScript  = newScript("report", "registry")
	noteScript    = newScript("note", "registry")
	ruleScript    = newScript("slotrule", "registry", "rules")
	slotsScript   = newScript("slots", "rules", "throttle", "room")
	purgeScript   = newScript("purge", "letters")
	taskScript    = newScript("task")
	cookiesScript = newScript("cookies")

	robotsLookScript = newScript("robots_look", "rules", "robots", "pace", "throttle")
	robotsKeepScript = newScript("robots_keep", "rules", "robots", "pace", "throttle")

	itemsTakeScript = newScript("items_take", "consumers")
	itemsKeepScript = newScript("items_keep", "consumers")
	itemsDoneScript = newScript("items_done", "consumers")

	streamIdleScript  = newScript("stream_idle")
	streamLeaveScript = newScript("stream_leave")
)

// call queues the script in a pipeline, or runs it on a client.
func (s *script) call(ctx context.Context, on redis.Cmdable, keys []string, args ...any) *redis.Cmd {
	return on.EvalSha(ctx, s.sha, keys, args...)
}

// loadScripts puts all scripts into Redis' script cache, which a restart empties.
func loadScripts(ctx context.Context, rdb redis.Cmdable) error {
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, s := range scripts {
			p.ScriptLoad(ctx, s.source)
		}
		return nil
	})
	return err
}
