// A server that takes its settings from the command line. It says on standard output where it
// listens, and which suites and groups its settings stand for.
package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// numbers reads numbers of 16 bits in hexadecimal, with commas between them.
func numbers(text string) []uint16 {
	var all []uint16
	for _, word := range strings.Split(text, ",") {
		if word == "" {
			continue
		}
		number, err := strconv.ParseUint(word, 16, 16)
		if err != nil {
			panic(err)
		}
		all = append(all, uint16(number))
	}
	return all
}

func main() {
	certificate, err := tls.LoadX509KeyPair(os.Args[1], os.Args[2])
	if err != nil {
		panic(err)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   numbers(os.Args[3])[0],
		MaxVersion:   numbers(os.Args[4])[0],
		CipherSuites: numbers(os.Args[5]),
		NextProtos:   []string{"http/1.1"},
	}
	for _, group := range numbers(os.Args[6]) {
		config.CurvePreferences = append(config.CurvePreferences, tls.CurveID(group))
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		panic(err)
	}
	fmt.Println("LISTENS", listener.Addr())
	// Ends with its standard input, so that nothing is left behind.
	go func() {
		bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})
	panic(http.Serve(listener, handler))
}
