"""What calls do in languages that are compiled first, and in those of the systems' own shells."""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.others.deeds import Deed
from vskill_platform.scanning.tier1.code.others.scripting import Catalogue

GO: Catalogue = {
    Deed.FETCH: (
        r"\b(?:http|client|httpClient|cli|cl|c|hc|DefaultClient)\.(?:Get|Do)\s*\(|"
        r"\bhttp\.NewRequest\w*\s*\([^\n]{0,40}(?:\"GET\"|MethodGet)"
    ),
    Deed.SAVE: r"\bgrab\.Get\b|\bgetter\.\w*GetFile\w*",
    Deed.SEND: (
        r"\bhttp\.(?:Post|PostForm)\b|\bhttp\.NewRequest\w*\s*\([^\n]{0,40}(?:\"P(?:OST|UT|ATCH)\"|Method(?:Post|"
        r"Put|Patch))|\.(?:Post|PostForm|PutObject|Upload)\s*\(|\bsmtp\.SendMail\b|\bconn\.Write\b|"
        r"\bfmt\.Fprint\w*\s*\(\s*(?:conn|c|sock)\b"
    ),
    Deed.LOOKUP: r"\b(?:net|r|resolver|res)\.Lookup(?:Host|TXT|IP|Addr|CNAME|IPAddr|NS|MX)\b|\bdns\.(?:Exchange|Msg)\b",
    Deed.CONNECT: r"\b(?:net|tls)\.Dial(?:Timeout|TCP)?\b",
    Deed.DECODE: (
        r"\bbase(?:64|32)\.\w+Encoding\.(?:DecodeString|Decode)\b|\bhex\.DecodeString\b|\b(?:gzip|zlib|"
        r"flate)\.NewReader\b|\bXORKeyStream\b|\.Open\s*\(\s*nil\b"
    ),
    Deed.ENCODE: r"\bbase(?:64|32)\.\w+Encoding\.(?:EncodeToString|Encode)\b|\bhex\.EncodeToString\b",
    Deed.EVALUATE: r"\b(?:i|interp|vm|L|otto|goja)\.(?:Eval|RunString|DoString|Run)\s*\(|\bplugin\.Open\b",
    Deed.RUN: (
        r"\bexec\.Command(?:Context)?\b|\bsyscall\.(?:Exec|ForkExec|StartProcess)\b|\bos\.StartProcess\b|"
        r"\bplugin\.Open\b"
    ),
    Deed.SHELL: (
        r"\bexec\.Command(?:Context)?\s*\((?:\s*ctx\s*,)?\s*\"(?:/bin/|/usr/bin/)?(?:ba|z|da)?sh\"|"
        r"\bexec\.Command(?:Context)?\s*\((?:\s*ctx\s*,)?\s*\"(?:cmd|powershell)"
    ),
    Deed.ENVIRONMENT: r"\bos\.Environ\s*\(\s*\)",
    Deed.INPUT: (
        r"\br\.(?:URL|Body|FormValue|PostFormValue|Form|PostForm)\b|\breq\.(?:URL|Body|FormValue)\b|\bc\.(?:Query|"
        r"Param|PostForm|BindJSON|Body)\b|\.ReadString\s*\("
    ),
    Deed.ARGUMENT: r"\bos\.Args\b|\bflag\.(?:String|StringVar|Arg|Args)\b",
    Deed.DATA: r"\bcsv\.NewReader\b|\bjson\.(?:Unmarshal|NewDecoder)\b|\byaml\.Unmarshal\b",
    Deed.READ: r"\b(?:os|ioutil)\.(?:ReadFile|Open|ReadDir)\b|\bfilepath\.(?:Walk|WalkDir|Glob)\b|\bio(?:util)?\.ReadAll\b",
    Deed.WRITE: r"\b(?:os|ioutil)\.(?:WriteFile|Create|OpenFile|Rename|Symlink)\b",
    Deed.QUERY: r"\.(?:Query|QueryRow|Exec|QueryContext|ExecContext|QueryRowContext|Raw)\s*\(",
    Deed.REDIRECT: r"\.Std(?:in|out)\s*(?:,\s*[\w.]+\s*){0,2}=",
    Deed.CLIPBOARD: r"\bclipboard\.ReadAll\b",
}
RUST: Catalogue = {
    Deed.FETCH: (
        r"\breqwest::(?:blocking::)?get\b|\b(?:ureq|attohttpc|minreq)::get\b|\.get\s*\(\s*(?:&?\w+\s*\)|&?format!|"
        r"\"https?:)"
    ),
    Deed.SAVE: r"\.copy_to\s*\(|\bio::copy\b|\bself_update\b",
    Deed.SEND: (
        r"\.(?:post|put|patch)\s*\(|\bureq::post\b|\.(?:send_json|send_form|send_string)\s*\(|\blettre\b|"
        r"\bstream\.write_all\b"
    ),
    Deed.LOOKUP: r"\.to_socket_addrs\s*\(|\blookup_host\b|\blookup_ip\b",
    Deed.CONNECT: r"\bTcpStream::connect\b",
    Deed.DECODE: (
        r"\bbase64::(?:decode|engine)\b|\.decode\s*\(|\bhex::decode\b|\b(?:Gz|Zlib|Deflate)Decoder\b|"
        r"\^\s*=?\s*(?:key|k|0x)"
    ),
    Deed.ENCODE: r"\bbase64::encode\b|\.encode\s*\(|\bhex::encode\b",
    Deed.EVALUATE: r"\b(?:engine|lua|rhai)\.(?:eval|load|run)\b|\bLibrary::new\b",
    Deed.RUN: r"\bCommand::new\b|\bLibrary::new\b",
    Deed.SHELL: r"\bCommand::new\s*\(\s*\"(?:/bin/|/usr/bin/)?(?:sh|bash|zsh|cmd|powershell)",
    Deed.ENVIRONMENT: r"\benv::vars(?:_os)?\s*\(",
    Deed.INPUT: r"\bQuery<|\bJson<|\bForm<|\.read_line\s*\(",
    Deed.ARGUMENT: r"\benv::args(?:_os)?\s*\(|\b(?:Args|Cli|Opt)::parse\b",
    Deed.DATA: r"\bcsv::Reader\b|\bserde_(?:json|yaml)::from_\w+",
    Deed.READ: r"\bfs::read(?:_to_string|_dir)?\b|\bFile::open\b|\.read_to_(?:string|end)\b|\bWalkDir::new\b",
    Deed.WRITE: r"\bfs::(?:write|copy|rename)\b|\bFile::create\b|\bOpenOptions::new\b",
    Deed.QUERY: r"\bsqlx::query\w*\s*\(|\.(?:execute|query|query_one|batch_execute|prepare)\s*\(",
    Deed.REDIRECT: r"\bfrom_raw_fd\b|\.std(?:in|out)\s*\(|\bdup2\b",
}
CSHARP: Catalogue = {
    Deed.FETCH: (
        r"\.(?:DownloadString|DownloadData|GetStringAsync|GetByteArrayAsync|GetAsync|GetStreamAsync|"
        r"DownloadStringTaskAsync|DownloadDataTaskAsync)\b|\bWebRequest\.Create\b"
    ),
    Deed.SAVE: r"\.DownloadFile(?:Async|TaskAsync)?\b",
    Deed.SEND: (
        r"\.(?:UploadString|UploadData|UploadFile|UploadValues|PostAsync|PutAsync|PostAsJsonAsync|"
        r"UploadStringTaskAsync|UploadFileTaskAsync)\b|\bSmtpClient\b|\bHttpMethod\.(?:Post|Put)\b|\.Bcc\b"
    ),
    Deed.LOOKUP: r"\bDns\.Get(?:HostEntry|HostAddresses|HostByName)\w*\b",
    Deed.CONNECT: r"\bnew\s+(?:\w+\.)*TcpClient\b|\bTcpClient\.Connect\b|\bnew\s+(?:\w+\.)*Socket\b",
    Deed.DECODE: (
        r"\bConvert\.FromBase64String\b|\bGZipStream\b|\bDeflateStream\b|\bConvert\.FromHexString\b|"
        r"\.CreateDecryptor\b"
    ),
    Deed.ENCODE: r"\bConvert\.ToBase64String\b|\bBitConverter\.ToString\b|\bConvert\.ToHexString\b",
    Deed.EVALUATE: r"\bAssembly\.(?:Load|LoadFile|LoadFrom)\b|\bCSharpScript\.\w+",
    Deed.RUN: r"\bProcess\.Start\b|\bProcessStartInfo\b|\bWinExec\b|\bCreateProcess\b|\bShellExecute\b",
    Deed.SHELL: r"\b(?:cmd|powershell|pwsh)(?:\.exe)?\b|/bin/(?:ba)?sh",
    Deed.ENVIRONMENT: r"\bEnvironment\.GetEnvironmentVariables\s*\(\s*\)",
    Deed.INPUT: (
        r"\bRequest\.(?:Query|Form|Body|QueryString|Params|Cookies|Headers)\b|\bRequest\[|\[From(?:Body|Query|"
        r"Form)\]|\.ReadLine\s*\("
    ),
    Deed.ARGUMENT: r"\bargs\[|\bGetCommandLineArgs\b",
    Deed.DATA: r"\bJsonSerializer\.Deserialize\b|\bJsonConvert\.DeserializeObject\b|\bCsvReader\b|\bXmlDocument\b",
    Deed.READ: r"\bFile\.(?:ReadAll\w+|Open\w*|ReadLines)\b|\bDirectory\.(?:GetFiles|EnumerateFiles)\b|\bStreamReader\b",
    Deed.WRITE: r"\bFile\.(?:WriteAll\w+|AppendAll\w+|Copy|Move|Create)\b|\bStreamWriter\b|\.SetValue\s*\(",
    Deed.QUERY: r"\bnew\s+\w*Command\s*\(|\.CommandText\s*=|\.(?:ExecuteSqlRaw|FromSqlRaw|Query|Execute)\w*\s*[(<]",
    Deed.REDIRECT: r"\bRedirectStandard(?:Input|Output)\b",
    Deed.CLIPBOARD: r"\bClipboard\.GetText\b",
}
JAVA: Catalogue = {
    Deed.FETCH: (
        r"\bnew\s+(?:\w+\.)*URL\s*\(|\bURL\s*\(|\.openStream\s*\(|\bHttpRequest\.newBuilder\b|\.readText\s*\(|"
        r"\bBodyHandlers\.of(?:String|ByteArray|InputStream)\b|\.toURL\s*\(\s*\)\.(?:text|bytes)|\bURLClassLoader\b"
    ),
    Deed.SAVE: r"\bFiles\.copy\s*\(|\bBodyHandlers\.ofFile\b|\bFileUtils\.copyURLToFile\b|\.transferFrom\s*\(",
    Deed.SEND: (
        r"\bBodyPublishers\.\w+|\bsetRequestMethod\s*\(\s*\"P(?:OST|UT)\"|\.getOutputStream\s*\(|"
        r"\bTransport\.send\b|\.putObject\s*\(|\brequestMethod\s*=\s*\"P(?:OST|UT)\"|\bnew\s+HttpPost\b|\.post\s*\("
    ),
    Deed.LOOKUP: r"\bInetAddress\.get(?:ByName|AllByName)\b",
    Deed.CONNECT: r"\bnew\s+(?:\w+\.)*Socket\s*\(|\bSocket\s*\(\s*\"",
    Deed.DECODE: (
        r"\bBase64\.get\w*Decoder\b|\bGZIPInputStream\b|\bInflater\b|\bHex\.decode\w*|\bCipher\.DECRYPT_MODE\b|"
        r"\bdecodeBase64\b"
    ),
    Deed.ENCODE: r"\bBase64\.get\w*Encoder\b|\bencodeBase64\b|\bHex\.encode\w*",
    Deed.EVALUATE: r"\.defineClass\b|\bURLClassLoader\b|\bScriptEngine\w*\b|\bGroovyShell\b|\bEval\.me\b",
    Deed.RUN: r"\.exec\s*\(|\bProcessBuilder\b",
    Deed.SHELL: r"\"(?:/bin/)?(?:ba)?sh\"|\"cmd(?:\.exe)?\"|\"powershell|\"-c\"",
    Deed.ENVIRONMENT: r"\bSystem\.getenv\s*\(\s*\)",
    Deed.INPUT: (
        r"\.getParameter\s*\(|@RequestParam\b|@RequestBody\b|\.getQueryString\b|\.getInputStream\s*\(|"
        r"\.readLine\s*\("
    ),
    Deed.ARGUMENT: r"\bargs\s*\[|\bargs\.",
    Deed.DATA: r"\bObjectMapper\b|\bCSVParser\b|\bJsonParser\b|\bJsonSlurper\b",
    Deed.READ: (
        r"\bFiles\.(?:read\w+|lines|walk|newInputStream)\b|\bFileInputStream\b|\bFileReader\b|\bnew\s+File\s*\(|"
        r"\bFile\s*\("
    ),
    Deed.WRITE: r"\bFiles\.(?:write\w*|copy|move)\b|\bFileOutputStream\b|\bFileWriter\b|\.writeText\s*\(|\.appendText\s*\(",
    Deed.QUERY: r"\.(?:executeQuery|executeUpdate|execute|createQuery|createNativeQuery|queryForList|queryForObject)\s*\(",
    Deed.REDIRECT: r"\bredirect(?:ErrorStream|Input|Output)\b|\.getOutputStream\s*\(\s*\)",
}
SWIFT: Catalogue = {
    Deed.FETCH: r"\b(?:Data|String)\s*\(\s*contentsOf:\s*(?:URL|url|remote)|\.(?:dataTask|data)\s*\((?:with|from|for):",
    Deed.SAVE: r"\.download(?:Task)?\s*\((?:with|from):",
    Deed.SEND: r"\.httpBody\b|\.uploadTask\s*\(|\.upload\s*\(for:|httpMethod\s*=\s*\"P(?:OST|UT)\"",
    Deed.LOOKUP: r"\bgetaddrinfo\b|\bCFHostCreateWithName\b",
    Deed.CONNECT: r"\bNWConnection\b|\bsocket\s*\(\s*AF_INET",
    Deed.DECODE: r"\bData\s*\(\s*base64Encoded:",
    Deed.ENCODE: r"\.base64EncodedString\b",
    Deed.EVALUATE: r"\.evaluateScript\s*\(|\bNSAppleScript\s*\(|\bdlopen\s*\(",
    Deed.RUN: r"\bProcess\s*\(\s*\)|\.executableURL\b|\.launchPath\b|\bposix_spawn\b|\bNSAppleScript\s*\(",
    Deed.SHELL: r"\"-l?c\"|\bsystem\s*\(",
    Deed.ENVIRONMENT: r"\bProcessInfo\.processInfo\.environment\b(?:\s*[.),]|\s*$)",
    Deed.ARGUMENT: r"\bCommandLine\.arguments\b",
    Deed.DATA: r"\bJSONDecoder\b|\bJSONSerialization\b",
    Deed.READ: r"\b(?:Data|String)\s*\(\s*contentsOf|\bFileManager\.default\.contents\b|\bFileHandle\s*\(",
    Deed.WRITE: r"\.write\s*\(to(?:File)?:|\bcreateFile\s*\(|\.copyItem\s*\(",
    Deed.REDIRECT: r"\.standard(?:Input|Output)\s*=",
    Deed.CLIPBOARD: r"\bNSPasteboard\.general\.(?:string|data|pasteboardItems)\b",
}
POWERSHELL: Catalogue = {
    Deed.FETCH: (
        r"(?i)\.(?:DownloadString|DownloadData|OpenRead|GetStringAsync|GetByteArrayAsync)\b|\b(?:Invoke-WebRequest|"
        r"Invoke-RestMethod|iwr|irm|curl|wget)\b|\bMSXML2\.\w*XMLHTTP|\bWinHttpRequest\b"
    ),
    Deed.SAVE: (
        r"(?i)\.DownloadFile(?:Async|TaskAsync)?\b|\bStart-BitsTransfer\b|-OutFile\b|"
        r"\bcertutil\b[^\n]{0,60}-urlcache"
    ),
    Deed.SEND: (
        r"(?i)\.Upload(?:String|Data|File|Values)\b|-Method\s+[\"']?(?:Post|Put)|-InFile\b|-Body\b|\b(?:Invoke-RestMethod|Invoke-WebRequest|irm|iwr)\s+@\w|\bcurl\.exe\b[^\n]{0,160}\s(?:-d|-F|-T|--data|--form)|"
        r"\bSend-MailMessage\b|\.PostAsync\b"
    ),
    Deed.LOOKUP: r"(?i)\bResolve-DnsName\b|\bnslookup\b|\[(?:System\.)?Net\.Dns\]::",
    Deed.CONNECT: r"(?i)\bNet\.Sockets\.(?:TcpClient|Socket|UdpClient)\b",
    Deed.DECODE: (
        r"(?i)::FromBase64String\b|\bGzipStream\b|\bDeflateStream\b|-bxor\b|\[char\]\s*(?:0x|\d|\()|"
        r"\bConvertTo-SecureString\b[^\n]{0,60}-Key"
    ),
    Deed.ENCODE: r"(?i)::ToBase64String\b|\bCompress-Archive\b",
    Deed.EVALUATE: (
        r"(?i)\b(?:iex|Invoke-Expression)\b|\[scriptblock\]::Create\b|\.InvokeScript\b|\bAddScript\b|"
        r"\[(?:System\.)?Reflection\.Assembly\]::Load\b"
    ),
    Deed.RUN: (
        r"(?i)\b(?:powershell|pwsh)(?:\.exe)?(?:\s+-(?:nop\w*|noni\w*|nol\w*|sta|(?:ep|ex\w*|w\w*)\s+\w+))*\s+-(?:c|co\w*|f|"
        r"fi\w*|e|en?c?\w*)\s|"
        r"\bStart-Process\b|\bsaps\b|(?:(?m:^[ \t]*)|[;{(|]\s*)&\s*[$(\"']|\bInvoke-Item\b|::Start\b|\brundll32\b|"
        r"\bregsvr32\b|\bmsiexec\b"
    ),
    Deed.SHELL: r"(?i)\bcmd(?:\.exe)?\s+/c\b|\bpowershell(?:\.exe)?\s+-|\b(?:iex|Invoke-Expression)\b",
    Deed.ENVIRONMENT: r"(?i)\b(?:Get-ChildItem|gci|dir|ls)\s+env:|\bGetEnvironmentVariables\b",
    Deed.INPUT: r"(?i)\.Request\.(?:InputStream|QueryString|Url)\b|\.GetStream\s*\(|\.ReadLine\s*\(",
    Deed.ARGUMENT: r"(?i)\$args\b",
    Deed.DATA: r"(?i)\bImport-Csv\b|\bConvertFrom-(?:Json|Csv)\b",
    Deed.READ: r"(?i)\bGet-Content\b|\bgc\b|::ReadAll\w+\b|\bCopy-Item\b|\bCompress-Archive\b",
    Deed.WRITE: (
        r"(?i)\bSet-Content\b|\bAdd-Content\b|\bOut-File\b|\b(?:Set|New)-ItemProperty\b|\bCopy-Item\b|"
        r"::WriteAll\w+\b|\breg(?:\.exe)?\s+add\b|\.SetValue\b|>>?\s*[\"']?\$"
    ),
    Deed.QUERY: r"(?i)\bInvoke-Sqlcmd\b|\.CommandText\s*=",
    Deed.REDIRECT: r"(?i)\.GetStream\s*\(|\bRedirectStandardInput\b",
    Deed.CLIPBOARD: r"(?i)\bGet-Clipboard\b|::GetText\b",
}
APPLESCRIPT: Catalogue = {
    Deed.FETCH: r"(?i)\bcurl\b",
    Deed.SAVE: r"(?i)\bcurl\b[^\n]{0,120}\s-(?:o|O|Lo|sLo|fsSLo)\b",
    Deed.SEND: (
        r"(?i)\bcurl\b[^\n]{0,160}(?:\s-d\b|\s-F\b|\s-T\b|--data|--form|--upload-file|-X ?POST)|\bmake new (?:bcc|"
        r"to) recipient\b|\bbcc recipient\b"
    ),
    Deed.DECODE: r"(?i)\bbase64\s+(?:-D|-d|--decode)\b|\bcharacter id\b",
    Deed.ENCODE: r"(?i)\bbase64\b",
    Deed.EVALUATE: r"(?i)\brun script\b|\bdoShellScript\b",
    Deed.RUN: r"(?i)\bdo shell script\b|\bdoShellScript\b|\bdo script\b",
    Deed.SHELL: r"(?i)\bdo shell script\b|\bdoShellScript\b|\bdo script\b",
    Deed.INPUT: r"(?i)\bcontent of\b|\bdisplay dialog\b",
    Deed.READ: r"(?i)\bread (?:file|POSIX file|alias|\()|\bduplicate\b",
    Deed.WRITE: r"(?i)\bopen for access\b|\bmake login item\b|\bmake new login item\b",
    Deed.CLIPBOARD: r"(?i)\bthe clipboard\b",
}
BATCH: Catalogue = {
    Deed.FETCH: (
        r"(?i)\b(?:curl|wget|bitsadmin)\b|\bcertutil\b[^\n]{0,60}-urlcache|\bInvoke-WebRequest\b|\biwr\b|"
        r"DownloadFile"
    ),
    Deed.SAVE: (
        r"(?i)\bcurl\b[^\n]{0,120}\s(?:-o|-O|--output)\b|\bbitsadmin\b|\bcertutil\b[^\n]{0,60}-urlcache|-OutFile\b|"
        r"DownloadFile"
    ),
    Deed.SEND: r"(?i)\bcurl\b[^\n]{0,160}(?:\s-d\b|\s-F\b|\s-T\b|--data|--form|--upload-file|-X ?POST)|\bftp\s+-s:",
    Deed.DECODE: r"(?i)\bcertutil\b[^\n]{0,40}-decode",
    Deed.RUN: r"(?i)\b(?:start|call|rundll32|regsvr32|mshta|msiexec|wscript|cscript)\b",
    Deed.WRITE: r"(?i)\breg(?:\.exe)?\s+add\b|\bcopy\b|\bxcopy\b|>>?\s*\"?%",
    Deed.READ: r"(?i)\btype\b|\bcopy\b|\bxcopy\b|\brobocopy\b",
    Deed.ARGUMENT: r"%[1-9*]",
}
VISUAL_BASIC: Catalogue = {
    Deed.FETCH: r"(?i)\bXMLHTTP\b|\bWinHttpRequest\b|\bURLDownloadToFile\b|\.responseText\b|\.responseBody\b",
    Deed.SAVE: r"(?i)\.SaveToFile\b|\bURLDownloadToFile\b",
    Deed.SEND: r"(?i)\.Open\s*\(?\s*\"P(?:OST|UT)\"|\bCDO\.Message\b|\.Bcc\b",
    Deed.DECODE: r"(?i)\bbin\.base64\b|\bChr\s*\(|\bStrReverse\s*\(",
    Deed.ENCODE: r"(?i)\bbin\.base64\b",
    Deed.EVALUATE: r"(?i)\bExecute(?:Global)?\b|\bEval\s*\(",
    Deed.RUN: r"(?i)\bWScript\.Shell\b|\bShell\s*\(|\.Run\b|\.ShellExecute\b|\.Exec\b",
    Deed.SHELL: r"(?i)\.Run\b|\bShell\s*\(|\.Exec\b",
    Deed.READ: r"(?i)\.OpenTextFile\b|\.ReadAll\b|\.CopyFile\b",
    Deed.WRITE: r"(?i)\.RegWrite\b|\.CreateTextFile\b|\.CopyFile\b",
    Deed.ARGUMENT: r"(?i)\bWScript\.Arguments\b",
    Deed.CLIPBOARD: r"(?i)\bclipboardData\b",
}
