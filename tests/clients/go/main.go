// Lets client libraries of Go fail against failing_server.py: one JSON line for each case, with the type, the message
// and what a panic with the error would print. Ports are masked.
//
//	raise_go '{"http": 1234, "closed": 1235, …}'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// wait is short where the server says nothing; elsewhere a loaded machine may take its time.
func wait(where string) time.Duration {
	if where == "slow" || where == "silent" {
		return 300 * time.Millisecond
	}
	return 30 * time.Second
}

var ports map[string]int

func at(where string) string {
	if where == "closed" {
		return fmt.Sprintf("http://127.0.0.1:%d/", ports["closed"])
	}
	return fmt.Sprintf("http://127.0.0.1:%d/%s", ports["http"], where)
}

func post(where string) error {
	client := http.Client{Timeout: wait(where)}
	answer, err := client.Post(at(where), "text/plain", strings.NewReader("x"))
	if err == nil {
		answer.Body.Close()
		return fmt.Errorf("unexpected status code %d", answer.StatusCode)
	}
	return err
}

func wrapped(where string) error {
	return fmt.Errorf("ask the provider: %w", post(where))
}

func deadline(where string) error {
	soon, cancel := context.WithTimeout(context.Background(), wait(where))
	defer cancel()
	request, _ := http.NewRequestWithContext(soon, "GET", at(where), nil)
	_, err := http.DefaultClient.Do(request)
	return err
}

func postgres(where string) error {
	soon, cancel := context.WithTimeout(context.Background(), wait(where))
	defer cancel()
	_, err := pgx.Connect(soon, fmt.Sprintf("postgres://worker:p@127.0.0.1:%d/d?sslmode=disable", ports[where]))
	return err
}

func ask(where string) error {
	client := redis.NewClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", ports[where]), MaxRetries: -1,
		ReadTimeout: wait(where), Protocol: 2})
	return client.Get(context.Background(), "k").Err()
}

func dial(where string) error {
	_, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[where]))
	return err
}

func parse(string) error {
	var order struct{ Quantity int }
	return json.Unmarshal([]byte(`{"Quantity": "503"}`), &order)
}

func masked(text string) string {
	for _, port := range ports {
		text = regexp.MustCompile(fmt.Sprintf(`\b%d\b`, port)).ReplaceAllString(text, "PORT")
	}
	return text
}

func main() {
	if err := json.Unmarshal([]byte(os.Args[1]), &ports); err != nil {
		panic(err)
	}
	cases := []struct {
		library string
		wheres  []string
		fail    func(string) error
	}{
		{"net/http", []string{"closed", "slow", "429", "503", "400"}, post},
		{"wrapped net/http", []string{"closed"}, wrapped},
		{"context", []string{"slow"}, deadline},
		{"pgx", []string{"closed", "silent", "pg_auth", "pg_starting"}, postgres},
		{"go-redis", []string{"closed", "redis_auth", "redis_loading"}, ask},
		{"net", []string{"closed"}, dial},
		{"json", []string{"type"}, parse},
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, one := range cases {
		for _, where := range one.wheres {
			err := one.fail(where)
			if err == nil {
				panic(one.library + " " + where + ": nothing was raised")
			}
			trace := fmt.Sprintf("panic: %v\n\ngoroutine 1 [running]:\nmain.price(...)\n\t/srv/app/main.go:12 +0x1d\n", err)
			out.Encode(map[string]string{"case": fmt.Sprintf("go %s %s", one.library, where), "type": fmt.Sprintf("%T", err),
				"message": masked(err.Error()), "trace": trace})
		}
	}
}
