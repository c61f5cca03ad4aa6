package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"luacrawl/scheduler/redistest"
)

// TestKilledConsumers kills consumers on the way, of a list and a stream, with a command and without: no item is lost, and what comes
// twice was in the hands of one that was killed.
func TestKilledConsumers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"list", "stream"} {
		for name, work := range map[string]string{"command": "-- sh -c 'cat >>worked'", "stdout": ">>worked"} {
			t.Run(kind+" to "+name, func(t *testing.T) {
				t.Parallel()
				killConsumers(t, kind, work)
			})
		}
	}
}

func killConsumers(t *testing.T, kind, work string) {
	const kills, batch = 4, 5
	items := 400 // a command takes longer
	if strings.HasPrefix(work, ">>") {
		items = 8000
	}
	redis := redistest.Start(t, redistest.Options{})
	redis.Strings("SADD", "luacrawl:spiders", "blog") // known when all of its items are gone, too
	for i := range items {
		item := fmt.Sprintf(`{"n":%d}`, i)
		if kind == "list" {
			redis.Strings("RPUSH", "blog:items", item)
		} else {
			redis.Strings("XADD", "blog:items", "*", "item", item)
		}
	}
	dir := t.TempDir()
	worked := func() []string {
		b, _ := os.ReadFile(filepath.Join(dir, "worked"))
		return slices.Collect(strings.FieldsSeq(string(b[:bytes.LastIndexByte(b, '\n')+1])))
	}
	start := func() *process {
		line := fmt.Sprintf("exec luacrawl items consume blog --redis %s --hold 5s --batch %d %s", redis.URL(), batch, work)
		return startCommand(t, "sh", dir, "-c", line)
	}
	consumers := []*process{start(), start()}
	killed := 0
	for i := range kills {
		eventually(t, time.Minute, "items are consumed", func() bool { return len(worked()) >= (i+1)*items/(kills*3) })
		select {
		case <-consumers[i%2].exited:
		default:
			consumers[i%2].kill()
			killed++
		}
		consumers[i%2] = start()
	}
	for _, c := range consumers { // they wait for what the killed ones held
		c.wantExit(t, 2*time.Minute, 0)
	}
	times := map[string]int{}
	for _, line := range worked() {
		times[line]++
	}
	lost := 0
	for i := range items {
		if times[fmt.Sprintf(`{"n":%d}`, i)] == 0 {
			lost++
		}
	}
	twice := len(worked()) - items + lost
	if lost > 0 || twice > killed*batch || killed == 0 {
		t.Errorf("%d items lost, %d came twice, %d consumers of at most %d items were killed", lost, twice, killed, batch)
	}
	t.Logf("%d consumers killed, %d items came twice", killed, twice)
	left := redis.Strings("KEYS", "blog:items*")
	if want := map[string]string{"stream": "blog:items"}[kind]; strings.Join(left, " ") != want {
		t.Errorf("keys are left: %q", left)
	}
}

// TestInterruptAtATerminal sends an interrupt to all processes of the foreground, as Ctrl-C does: the command ends its batch all the same.
func TestInterruptAtATerminal(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, redistest.Options{})
	redis.Strings("RPUSH", "blog:items", "1", "2")
	dir := t.TempDir()
	const work = "read n; echo $n >>begun; while [ ! -e go ]; do sleep 0.02; done; echo $n >>ended"
	cmd := exec.Command("luacrawl", "items", "consume", "blog", "--redis", redis.URL(), "--batch", "1", "--follow", "--", "sh", "-c", work)
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	p := startProcess(t, cmd)
	has := func(name string) bool {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return string(b) == "1\n"
	}
	eventually(t, time.Minute, "a batch is begun", func() bool { return has("begun") })
	if err := syscall.Kill(-p.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.wantExit(t, time.Minute, 130)
	if !has("ended") {
		t.Errorf("the command was ended by the interrupt\n%s", p.output)
	}
	if left := redis.Strings("LRANGE", "blog:items", "0", "-1"); !slices.Equal(left, []string{"2"}) {
		t.Errorf("left: %q", left)
	}
}
