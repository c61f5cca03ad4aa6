package sqlsink_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"luacrawl/engine/export"
	"luacrawl/engine/export/sqlsink"
)

// A writer process is this test binary with these variables set.
const (
	writerDSN   = "LUACRAWL_TEST_WRITER_DSN"
	writerItems = "LUACRAWL_TEST_WRITER_ITEMS"
)

func TestMain(m *testing.M) {
	if os.Getenv(writerDSN) != "" {
		os.Exit(runWriter())
	}
	os.Exit(m.Run())
}

// runWriter writes all items, page by page as a crawl does, and prints how many are safe.
func runWriter() int {
	cfg, err := sqlsink.ParseConfig(map[string]any{"dsn": "env:" + writerDSN, "table": "news", "batch": 50.0}, os.LookupEnv)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s, err := sqlsink.New(cfg, everyType)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	items, _ := strconv.Atoi(os.Getenv(writerItems))
	ctx := context.Background()
	retry(func() error { return s.Open(ctx) })
	const page = 25
	for from := 0; from < items; from += page {
		var records []export.Record
		for i := from; i < min(items, from+page); i++ {
			records = append(records, article(i, map[string]any{"title": fmt.Sprint("page ", i), "comments": i}))
		}
		retry(func() error {
			refused, err := s.Write(ctx, records)
			if len(refused) > 0 {
				fmt.Fprintln(os.Stderr, "refused:", refused[0].Err)
				os.Exit(1)
			}
			return err
		})
		fmt.Println(from + page)
	}
	return 0
}

func retry(step func() error) {
	for err := step(); err != nil; err = step() {
		<-time.After(20 * time.Millisecond)
	}
}

// TestWriterKilledAndDatabaseRestarted kills the writer with SIGKILL in the middle of its batches, and the database twice. Each item is one
// row, and a row that was said to be safe is there.
func TestWriterKilledAndDatabaseRestarted(t *testing.T) {
	t.Parallel()
	const items = 2000
	each(t, func(b *backend) {
		for round := range 5 {
			killed := startWriter(b, items)
			killed.readUntil(b.t, (round+1)*items/8)
			if b.server != nil && (round == 1 || round == 3) {
				b.server.Restart() // while the writer writes
				killed.readUntil(b.t, (round+1)*items/8+items/20)
			}
			killed.kill()
			safe := killed.safe
			var n int
			eventually(b.t, func() error {
				return b.db.QueryRowContext(b.t.Context(), "SELECT COUNT(*) FROM news").Scan(&n)
			})
			if n < safe {
				b.t.Fatalf("round %d: %d items were safe, %d are there", round, safe, n)
			}
		}
		last := startWriter(b, items)
		last.readUntil(b.t, items)
		last.kill()
		b.want("SELECT COUNT(*), COUNT(DISTINCT item_id), COUNT(DISTINCT title), SUM(comments) FROM news", fmt.Sprintf("%d|%d|%d|%d", items, items, items, items*(items-1)/2))
	})
}

// writer is a writer process.
type writer struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	safe  int // the last number that it printed
}

func startWriter(b *backend, items int) *writer {
	b.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerDSN+"="+b.dsn, fmt.Sprint(writerItems, "=", items))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	w := &writer{cmd: cmd, lines: bufio.NewScanner(out)}
	b.t.Cleanup(w.kill)
	return w
}

// readUntil waits for that many items to be safe.
func (w *writer) readUntil(t *testing.T, items int) {
	t.Helper()
	for w.safe < items {
		if !w.lines.Scan() {
			t.Fatalf("the writer ended after %d items", w.safe)
		}
		w.safe, _ = strconv.Atoi(w.lines.Text())
	}
}

func (w *writer) kill() {
	if w.cmd.ProcessState != nil {
		return
	}
	w.cmd.Process.Kill()
	for w.lines.Scan() { // what it said before it died
		w.safe, _ = strconv.Atoi(w.lines.Text())
	}
	w.cmd.Wait()
}
