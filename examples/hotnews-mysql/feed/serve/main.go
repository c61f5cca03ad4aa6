// Serve shows the stand-in of the news site: go run ./examples/hotnews-mysql/feed/serve [ADDRESS].
package main

import (
	"fmt"
	"net/http"
	"os"

	"luacrawl/examples/hotnews-mysql/feed"
)

func main() {
	addr := "127.0.0.1:8085"
	if len(os.Args) > 1 {
		addr = os.Args[1]
	}
	fmt.Println("the feed is at http://" + addr + "/api/feed?category=news_hot&max_behot_time=0")
	if err := http.ListenAndServe(addr, feed.Handler(200)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
