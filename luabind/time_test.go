package luabind

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimeParse(t *testing.T) {
	t.Parallel()
	v := moduleVM(t, "time")
	want := time.Date(2024, 3, 5, 14, 7, 9, 0, time.UTC).Unix()
	for _, s := range []string{
		"2024-03-05T14:07:09Z", "2024-03-05T15:07:09+01:00", "2024-03-05T15:07:09+0100", "2024-03-05T14:07:09", "2024-03-05 14:07:09", " 2024-03-05 14:07:09 UTC ",
		"2024-03-05 22:07:09 +0800", "2024/03/05 14:07:09", "20240305T140709Z", "2024-03-05T14:07:09.000Z",
		"Tue, 05 Mar 2024 14:07:09 GMT", "Tue, 05 Mar 2024 09:07:09 EST", "Tue, 5 Mar 2024 06:07:09 PST", "Tue, 05 Mar 2024 14:07:09 +0000",
		"Tue, 05 Mar 2024 22:07:09 GMT+8", "Tue, 05 Mar 2024 09:07:09 GMT-5", "2024-03-05 14:07:09 GMT+0",
		"5 Mar 2024 14:07:09 GMT", "Tuesday, 05-Mar-24 14:07:09 GMT", "Tue, 05-Mar-2024 14:07:09 GMT", "Tue Mar  5 14:07:09 2024", "Tue Mar  5 14:07:09 UTC 2024",
	} {
		if got := eval(t, v, `return time.parse(`+strconv.Quote(s)+`)`); got != strconv.FormatInt(want, 10) {
			t.Errorf("%q: %s, want %d", s, got, want)
		}
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	runCases(t, []moduleCase{
		{`return time.parse("2024-03-05"), time.parse("March 5, 2024"), time.parse("5 Mar 2024"), time.parse("2024/03/05")`, `1709596800|1709596800|1709596800|1709596800`},
		{`return time.format(time.parse("2024-03-05T14:07:09.25Z"), "%S.%f")`, `09.250000`},
		{`return time.parse("2024年03月05日", "%Y年%m月%d日")`, `1709596800`},
		{`return time.parse("05/Mar/2024:14:07:09 +0100", "%d/%b/%Y:%H:%M:%S %z")`, `1709644029`},
		{`return time.parse("3-5-24 02:07 PM", "%m-%d-%y %I:%M %p")`, `nil|"3-5-24 02:07 PM" is not a time in a known form`},
		{`return time.parse("03-05-24 02:07 PM", "%m-%d-%y %I:%M %p")`, `1709647620`},
		{`return time.parse("2024-03-05 14:07:09.5", "%F %T.%f") == 1709647629.5`, `true`},
		{`return time.parse("yesterday")`, `nil|"yesterday" is not a time in a known form`},
		{`return time.parse("")`, `nil|"" is not a time in a known form`},
		{`return time.parse(("9"):rep(200))`, `nil|too long for a time`},
		{`return time.parse("Tue, 05 Mar 2024 14:07:09 CET")`, `nil|"Tue, 05 Mar 2024 14:07:09 CET": the zone CET has no one meaning`},
		{`return time.parse("2024-02-30")`, `nil|"2024-02-30" is not a time in a known form`},
		{`return time.format(1709647629), time.format(1709647629.75), time.format(-1.5), time.format(0, "%A %B %e %Y %j %% %I%p")`, `2024-03-05T14:07:09Z|2024-03-05T14:07:09Z|1969-12-31T23:59:58Z|Thursday January  1 1970 001 % 12AM`},
		{`return time.format(0/0)`, `raised: <string>:1: bad argument #1 to format (the time is not between the years 0 and 9999; it is in seconds)`},
		{`return time.format(1709647629000)`, `raised: <string>:1: bad argument #1 to format (the time is not between...`},
		{`return time.format("x")`, `raised: <string>:1: bad argument #1 to format (number expected, got string)`},
		{`return time.format(0, "%Q")`, `raised: <string>:1: bad argument #2 to format (layout "%Q": the field %Q is not known)`},
		{`return time.format(0, "2006-01-02")`, `raised: <string>:1: bad argument #2 to format (layout "2006-01-02" has no fields...`},
		{`return time.format(0, "%Y 5")`, `raised: <string>:1: bad argument #2 to format (the text " 5" cannot stand in a layout)`},
		{`return time.format(0, "%Y Monday PM")`, `raised: <string>:1: bad argument #2 to format (the text " Monday PM" cannot stand in a layout)`},
		{`return time.format(0, "%Y%")`, `raised: <string>:1: bad argument #2 to format (layout "%Y%" ends in %)`},
		{`return time.format(0, "%f")`, `raised: <string>:1: bad argument #2 to format (the field %f is only possible as %S.%f)`},
		{`return time.sleep`, `nil`},
	}, "time")
}

func TestTimeNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := moduleVM(t, "time")
		<-time.After(1500 * time.Millisecond) // of the bubble's clock
		want := strconv.FormatFloat(float64(time.Now().UnixMilli())/1000, 'f', -1, 64)
		if got := eval(t, v, `return ("%.1f"):format(time.now())`); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
