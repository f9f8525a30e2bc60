// Command generate writes a slow log in the form of MySQL 8.0 in which every statement has literals of its own and
// the statements are of many classes, so that no cache of statements can flatter who reads it.
//
//	generate -classes 50000 -bytes 536870912 > many-classes.slow.log
//
// The same arguments give the same bytes.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"time"
)

const firstSecond = 1795229066

// Letters only: a digit within a name is a placeholder in a fingerprint.
var names = []string{
	"account", "address", "amount", "balance", "basket", "billing", "branch", "category", "channel", "city",
	"contact", "country", "coupon", "created", "currency", "customer", "deleted", "delivery", "device", "discount",
	"document", "email", "employee", "event", "expires", "filename", "gateway", "holder", "invoice", "item",
	"journal", "label", "language", "ledger", "location", "manager", "message", "order", "owner", "parcel",
	"payment", "phone", "price", "product", "quantity", "reference", "refund", "region", "session", "shipment",
	"source", "status", "stock", "supplier", "ticket", "token", "total", "updated", "vendor", "warehouse",
}

var users = []string{"app", "batch", "billing", "reports", "web"}

func main() {
	classes := flag.Int("classes", 50_000, "classes of statements")
	size := flag.Int64("bytes", 512<<20, "bytes to write, at least; the last entry is whole")
	seed := flag.Int64("seed", 1, "seed of the literals")
	flag.Parse()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	writer := log{out: out, random: rand.New(rand.NewSource(*seed))}
	for entry := 0; writer.written < *size; entry++ {
		writer.entry(entry, *classes)
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "generate: "+err.Error())
		os.Exit(1)
	}
}

type log struct {
	out     *bufio.Writer
	random  *rand.Rand
	written int64
}

// entry writes the entry of that number. The first pass goes through all classes, so that each of them comes.
func (l *log) entry(number, classes int) {
	class := number
	if number >= classes {
		class = l.random.Intn(classes)
	}
	second := firstSecond + int64(number/500)
	micros := l.random.Intn(1_000_000)
	moment := time.Unix(second, int64(micros)*1000).UTC()
	user := users[l.random.Intn(len(users))]
	l.print("# Time: %s\n", moment.Format("2006-01-02T15:04:05.000000Z"))
	l.print("# User@Host: %s[%s] @ app-%d.example [10.0.%d.%d]  Id: %5d\n",
		user, user, l.random.Intn(20), l.random.Intn(4), l.random.Intn(250), 100+l.random.Intn(5000))
	l.print("# Query_time: %d.%06d  Lock_time: 0.%06d Rows_sent: %d  Rows_examined: %d\n",
		l.random.Intn(3), l.random.Intn(1_000_000), l.random.Intn(1000), l.random.Intn(500), l.random.Intn(100_000))
	l.print("SET timestamp=%d;\n", second)
	l.statement(class)
}

// statement writes a statement of the class: the class's number, in the base of the names, picks its names.
func (l *log) statement(class int) {
	table, column, other := pick(class, 1), pick(class, len(names)), pick(class, len(names)*len(names))
	id, day, text := l.random.Int31(), 1+l.random.Intn(28), l.text()
	switch class % 4 {
	case 0:
		l.print("SELECT %s, %s FROM %s_log WHERE %s_id = %d AND %s > '%s' AND %s < %d.%02d ORDER BY %s DESC LIMIT %d;\n",
			column, other, table, column, id, other, text, column, id%1000, id%100, other, 1+id%50)
	case 1:
		l.print("UPDATE %s_log SET %s = '%s', %s = %d WHERE %s_key IN (%d, %d, %d);\n",
			table, column, text, other, id, column, id, id+1, id+2)
	case 2:
		l.print("INSERT INTO %s_log (%s, %s, day) VALUES ('%s', %d, '2026-11-%02d'), ('%s', %d, NULL);\n",
			table, column, other, text, id, day, l.text(), id/2)
	default:
		l.print("SELECT COUNT(*) FROM %s_log a JOIN %s_map b ON a.%s = b.%s WHERE a.note LIKE '%%%s%%' AND b.code = 0x%x;\n",
			table, column, column, other, text, id)
	}
}

func pick(class, unit int) string {
	return names[class/4/unit%len(names)]
}

// text is 8 to 40 letters, blanks and escaped quotes.
func (l *log) text() string {
	bytes := make([]byte, 8+l.random.Intn(32))
	for i := range bytes {
		bytes[i] = byte('a' + l.random.Intn(26))
	}
	bytes[2] = ' '
	bytes[4], bytes[5] = '\\', '\''
	return string(bytes)
}

func (l *log) print(format string, arguments ...any) {
	count, _ := fmt.Fprintf(l.out, format, arguments...)
	l.written += int64(count)
}
