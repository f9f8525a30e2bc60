// Command gomysql reads one slow log with Percona's go-mysql: it parses every entry and makes the fingerprint
// and the id of its statement, on one thread's worth of work, and aggregates nothing. It prints the number of
// entries and of classes as one JSON object.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/percona/go-mysql/log"
	"github.com/percona/go-mysql/log/slow"
	"github.com/percona/go-mysql/query"
)

type result struct {
	Entries int `json:"entries"`
	Classes int `json:"classes"`
}

func main() {
	if len(os.Args) != 2 {
		fail("expected one slow log")
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		fail(err.Error())
	}
	counted, err := read(file)
	if err != nil {
		fail(err.Error())
	}
	if err := json.NewEncoder(os.Stdout).Encode(counted); err != nil {
		fail(err.Error())
	}
}

func read(file *os.File) (result, error) {
	parser := slow.NewSlowLogParser(file, log.Options{})
	ended := make(chan error, 1)
	go func() { ended <- parser.Start() }()
	classes := map[string]bool{}
	entries := 0
	for event := range parser.EventChan() {
		entries++
		classes[query.Id(query.Fingerprint(event.Query))] = true
	}
	return result{entries, len(classes)}, <-ended
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "gomysql: "+message)
	os.Exit(1)
}
