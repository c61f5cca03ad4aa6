package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// feedProcess is a process that writes a feed as a crawl does: it commits (prints) items after they were written, and begins some way before the last one that was
// committed, since pages that were open come again.
func feedProcess(job string) error {
	uri, from, _ := strings.Cut(job, " ")
	if limit := os.Getenv("FEED_FILE_LIMIT"); limit != "" {
		return fullDisk(uri, limit)
	}
	n, err := strconv.Atoi(from)
	if err != nil {
		return err
	}
	c := FeedConfig{URI: uri, Crawl: "one"}
	if strings.Contains(uri, "%(part)") {
		c.RotateCount = 150
	}
	sink, err := NewFeed(c)
	if err != nil {
		return err
	}
	if err := sink.Open(context.Background()); err != nil {
		return err
	}
	for ; ; n += 7 {
		if _, err := sink.Write(context.Background(), records(n, n+7)); err != nil {
			return err
		}
		fmt.Println(n + 7)
	}
}

// killed starts a feedProcess, kills it with -9 after some commits, and returns the number of items that it committed.
func killed(t *testing.T, uri string, from, commits int) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("FEED_PROCESS=%s %d", uri, from))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := 0
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
		if commits--; commits == 0 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the writer ended by itself: %v", err)
	}
	return last
}

func TestKilledFeedHasNoTornAndNoRepeatedLine(t *testing.T) {
	t.Parallel()
	kills := 12
	if os.Getenv("LUACRAWL_SOAK") != "" {
		kills = 200
	}
	for _, name := range []string{"items.jsonl", "items.csv", "items.json", "items.jsonl.gz", "items.csv.zst", "items-%(part)d.jsonl", "items-%(part)03d.csv.gz", "%(part)d/items.json.zst"} {
		t.Run(strings.NewReplacer("%", "", "/", "_").Replace(name), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			uri := filepath.Join(dir, name)
			committed := 0
			for range kills {
				// What was committed does not come again; what was written and not committed may.
				committed = max(committed, killed(t, uri, max(0, committed-rand.IntN(30)), 1+rand.IntN(20)))
			}
			sink := openFeed(t, FeedConfig{URI: uri, Crawl: "one"})
			closeFeed(t, sink)
			wantOnce(t, dir, committed)
		})
	}
}

// wantOnce checks that the files under a folder are whole and hold each item that was committed, none twice.
func wantOnce(t *testing.T, dir string, committed int) {
	t.Helper()
	count := map[int]int{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		if strings.HasSuffix(path, ".part") {
			t.Errorf("%s was not finished", path)
		}
		found, err := numbers(path)
		if err != nil {
			return err
		}
		if !slices.IsSorted(found) {
			t.Errorf("%s is not in the order of writing", path)
		}
		for _, n := range found {
			count[n]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range committed {
		if count[n] == 0 {
			t.Fatalf("item %d of %d committed is lost", n, committed)
		}
	}
	for n, times := range count {
		if times > 1 {
			t.Fatalf("item %d is there %d times", n, times)
		}
	}
}

// fullDisk writes until no file may grow any more, and then goes on with more room. The limit on the size of files is a disk that is
// full for whoever runs the tests.
func fullDisk(uri, limit string) error {
	size, err := strconv.ParseUint(limit, 10, 64)
	if err != nil {
		return err
	}
	ctx := context.Background()
	sink, err := NewFeed(FeedConfig{URI: uri, Crawl: "one"})
	if err != nil {
		return err
	}
	if err := sink.Open(ctx); err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: old.Max}); err != nil {
		return err
	}
	n, down := 0, 0
	for n < 3000 {
		_, err := sink.Write(ctx, records(n, n+50))
		if err == nil {
			n += 50
			continue
		}
		if !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("item %d: %w", n, err)
		}
		if down++; down == 3 {
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
				return err
			}
		}
	}
	if down != 3 {
		return fmt.Errorf("the disk was full %d times, not 3", down)
	}
	return sink.Close(ctx)
}

func TestFeedGoesOnOnceAFullDiskHasRoom(t *testing.T) {
	t.Parallel()
	everyShape(t, func(t *testing.T, ending string) {
		path := filepath.Join(t.TempDir(), "items."+ending)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FEED_PROCESS="+path, "FEED_FILE_LIMIT=20000")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		wantNumbers(t, path, 0, 3000)
	})
}
