package cli

import (
	"strings"
	"testing"
	"time"
)

func TestSettingsLayers(t *testing.T) {
	t.Parallel()
	spider := map[string]any{"download_delay": 1.0, "lease": 30.0, "retry_times": 7.0}
	l := layers(
		[]string{"LUACRAWL_DOWNLOAD_DELAY=2s", "LUACRAWL_LEASE=40", "LUACRAWL_GRACE=", "LUACRAWL_REDIS=redis://h", "LUACRAWL_SOAK=1", "PATH=/bin"},
		map[string]string{"download_delay": "3", "download_maxsize": "8MB"},
	)
	s, err := l.Merge("blog.lua", spider)
	if err != nil {
		t.Fatal(err)
	}
	if s.DownloadDelay != 3*time.Second || s.Lease != 40*time.Second || s.RetryTimes != 7 || s.DownloadMaxsize != 8<<20 || s.Grace != 30*time.Second {
		t.Errorf("%+v", s)
	}
}

func TestSettingsNameTheLayer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		spider map[string]any
		env    string
		set    map[string]string
		want   string
	}{
		{spider: map[string]any{"retry_time": 1.0}, want: "blog.lua"},
		{env: "LUACRAWL_RETRY_TIME=1", want: "LUACRAWL_RETRY_TIME"},
		{env: "LUACRAWL_RETRY_TIMES=many", want: "LUACRAWL_RETRY_TIMES"},
		{set: map[string]string{"retry_time": "1"}, want: "--set"},
	} {
		_, err := layers([]string{test.env}, test.set).Merge("blog.lua", test.spider)
		if err == nil || !strings.Contains(err.Error(), test.want) || codeOf(err) != exitUsage {
			t.Errorf("%+v: error %v, exit code %d", test, err, codeOf(err))
		}
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	m, err := pairs("-a", []string{"a=1", "b=x=y", "a=2", "c="})
	if err != nil || m["a"] != "2" || m["b"] != "x=y" || len(m) != 3 {
		t.Errorf("%v %v", m, err)
	}
	for _, bad := range []string{"a", "=1", ""} {
		if _, err := pairs("-a", []string{bad}); codeOf(err) != exitUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
