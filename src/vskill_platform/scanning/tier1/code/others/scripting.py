"""What calls do in languages that are run as they stand."""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.others.deeds import Deed

Catalogue = dict[Deed, str]

RUBY: Catalogue = {
    Deed.FETCH: (
        r"\bURI(?:\.parse)?\([^()\n]*\)\.(?:open|read)\b|\bURI\.open\b|\bopen-uri\b|\bNet::HTTP\.(?:get|"
        r"get_response|start)\b|"
        r"\b(?:HTTParty|Faraday|RestClient|HTTP|Excon|Typhoeus)\.get\b|\bDown\.download\b|\b(?:open|"
        r"read)\(?\s*[\"']https?://"
    ),
    Deed.SAVE: r"\bDown\.download\b|\bIO\.copy_stream\b",
    Deed.SEND: (
        r"\bNet::HTTP\.(?:post|post_form)\b|\bNet::HTTP::(?:Post|Put|Patch)\b|\.request_post\b|\.(?:set_form|body)\s*=|"
        r"\b(?:HTTParty|Faraday|RestClient|HTTP|Excon|Typhoeus|conn|http|client)\.(?:post|put|patch)\b|\bNet::SMTP\b|"
        r"\bNet::FTP\b|\.put(?:binary|text)file\b|\bput_object\b|\bupload_file\b|\b(?:sock|socket|s)\.(?:puts|"
        r"write|print|send)\b"
    ),
    Deed.LOOKUP: r"\bResolv\.(?:getaddress|getaddresses|new)\b|\bResolv::DNS\b|\bgetaddrinfo\b|\bIPSocket\.getaddress\b",
    Deed.CONNECT: r"\b(?:TCPSocket|UDPSocket|UNIXSocket)\.(?:new|open)\b|\bSocket\.tcp\b|\bOpenSSL::SSL::SSLSocket\b",
    Deed.DECODE: (
        r"\bBase64\.(?:strict_|urlsafe_)?decode64\b|\.unpack1?\(?\s*[\"'][mHuB]|\bZlib::\w*Inflate|"
        r"\bZlib\.(?:gunzip|inflate)\b|"
        r"\.pack\(?\s*[\"'][CcUHh]\*|\.decrypt\b"
    ),
    Deed.ENCODE: (
        r"\bBase64\.(?:strict_|urlsafe_)?encode64\b|\.unpack1?\(?\s*[\"']H|\.pack\(?\s*[\"']m|\.hexdigest\b|"
        r"\bbase32\b"
    ),
    Deed.EVALUATE: (r"\b(?:instance_eval|class_eval|module_eval|eval)\b|\bRubyVM::InstructionSequence\b"),
    Deed.RUN: (
        r"\b(?:system|exec|spawn)\b|\bIO\.popen\b|\bOpen3\.\w+|\bPTY\.spawn\b|\bProcess\.spawn\b|"
        r"\bload\s*\(?\s*[\w@\"']"
    ),
    Deed.SHELL: r"\b(?:system|exec|spawn)\b|\bIO\.popen\b|\bOpen3\.\w+|`[^`\n]*#\{|%x[\[({|]|\bKernel\.open\b",
    Deed.ENVIRONMENT: r"\bENV\.(?:to_h|to_a|map|each|each_pair|select|inspect|to_hash|values|reject|filter)\b|\bENV\)",
    Deed.INPUT: r"\bparams\[|\brequest\.(?:body|params|env)\b|\breq\.(?:body|query)\b|\.recv\b|\bgets\b",
    Deed.ARGUMENT: r"\bARGV\b|\bARGF\b",
    Deed.DATA: (
        r"\bCSV\.(?:foreach|read|parse|open|table)\b|\bJSON\.(?:parse|load|load_file)\b|\bYAML\.(?:load|"
        r"safe_load)\w*|\bRoo::"
    ),
    Deed.READ: (
        r"\bFile\.(?:read|binread|open|readlines|foreach|new)\b|\bIO\.(?:read|binread|readlines)\b|\bDir\.(?:glob|"
        r"\[)|\.read\b"
    ),
    Deed.WRITE: r"\bFile\.(?:write|binwrite|open|new)\b|\bIO\.(?:write|binwrite)\b|\bFileUtils\.(?:cp|mv|install|ln_s)\w*",
    Deed.QUERY: r"\.(?:execute|exec_query|find_by_sql|exec|query|select_all|exec_params)\b",
    Deed.REDIRECT: r"(?i:\$?std(?:in|out))\.reopen|<&|>&|\bin:|dup2",
    Deed.CLIPBOARD: r"\bClipboard\.paste\b|\bpbpaste\b|\bxclip\b|\bxsel\b",
}
PERL: Catalogue = {
    Deed.FETCH: (
        r"\b(?:LWP::Simple::)?get\s*\(?\s*[\"'$]|\bLWP::UserAgent\b|\bHTTP::Tiny\b|->get\s*\(|\bMojo::UserAgent\b|"
        r"`\s*(?:curl|wget)\b|qx\W\s*(?:curl|wget)\b"
    ),
    Deed.SAVE: r"\bgetstore\s*\(|\bmirror\s*\(|->mirror\b|:content_file\b|->download\b|\bsave_to\b",
    Deed.SEND: (
        r"->(?:post|put|post_form|patch)\b|\bHTTP::Request\b|\bPOST\s*\(|\bNet::(?:SMTP|FTP)\b|->(?:datasend|"
        r"send)\b|print\s*\{?\s*\$?sock"
    ),
    Deed.LOOKUP: r"\bgethostbyname\b|\bNet::DNS\b|\binet_aton\b",
    Deed.CONNECT: r"\bIO::Socket(?:::\w+)*\b|\bconnect\s*\(\s*\w|\bsockaddr_in\b",
    Deed.DECODE: r"\bdecode_base64\b|\bunpack\s*\(?\s*[\"'][uHhB]|\bpack\s*\(?\s*[\"'][HCcUh]|\bUncompress|\binflate\b",
    Deed.ENCODE: r"\bencode_base64\b|\bunpack\s*\(?\s*[\"']H|\bpack\s*\(?\s*[\"']u|\bencode_base32\b",
    Deed.EVALUATE: r"\beval\b|/e[egimsx]*\s*;|\bdo\s+\$|\brequire\s+\$",
    Deed.RUN: r"\b(?:system|exec)\b|\bopen\s*\(?\s*(?:my\s*)?\$?\w+\s*,\s*[\"'](?:-\||\|-)|\bIPC::\w+|\bqx\b",
    Deed.SHELL: (
        r"\b(?:system|exec)\b|\bqx\b|`[^`\n]*[$@]\w[^`\n]*`|\bopen\s*\(?\s*(?:my\s*)?\$?\w+\s*,\s*[\"'](?:-\||\||"
        r"[^\"'\n]*\|[\"'])"
    ),
    Deed.ENVIRONMENT: r"%ENV\b|\bkeys\s*\(?\s*%ENV\b|`env`|`printenv`",
    Deed.INPUT: r"\bparam\s*\(|->param\b|\bQUERY_STRING\b|->recv\b|<\$?(?:sock\w*|client)>|<STDIN>",
    Deed.ARGUMENT: r"@ARGV\b|\$ARGV\[|\bshift\b(?:\s*;|\s*//|\s*\|\||\s+or\b)|\bGetOptions\b",
    Deed.DATA: r"\bdecode_json\b|\bText::CSV\b|->getline\b|\bYAML::\w*Load\w*|\bfrom_json\b",
    Deed.READ: r"\bopen\s*\(?\s*(?:my\s*)?\$?\w+\s*,\s*[\"']<|\bread_file\b|\bslurp\b|->slurp\w*\b|\bglob\s*\(?|<\$\w+>",
    Deed.WRITE: r"\bopen\s*\(?\s*(?:my\s*)?\$?\w+\s*,\s*[\"']\+?>|\bwrite_file\b|\bappend_file\b|->spew\w*\b|\bcopy\s*\(",
    Deed.QUERY: r"->(?:do|prepare|selectall_\w+|selectrow_\w+)\b",
    Deed.REDIRECT: r"open\s*\(?\s*STD(?:IN|OUT)\b[^;\n]*&|<&|>&",
    Deed.CLIPBOARD: r"\bpbpaste\b|\bxclip\b|\bxsel\b|\bClipboard\b",
}
PHP: Catalogue = {
    Deed.FETCH: (
        r"\bfile_get_contents\s*\(\s*(?:[\"']https?:|\$(?:url|u|src|remote|endpoint)\b)|\bcurl_(?:exec|init)\b|"
        r"\b(?:fopen|readfile|file)\s*\(\s*[\"']https?:|->get\s*\(\s*[\"']https?:|\bwp_remote_(?:get|"
        r"retrieve_body)\b"
    ),
    Deed.SAVE: r"\bcopy\s*\(\s*[\"']https?:|\bCURLOPT_FILE\b|\bdownload_url\b",
    Deed.SEND: (
        r"\bCURLOPT_POSTFIELDS\b|\bCURLOPT_INFILE\b|\bwp_remote_post\b|->(?:post|put)\s*\(|\bmail\s*\(|"
        r"\bftp_(?:put|fput|nb_put)\b|\bstream_context_create\b[^;]*POST|\bfwrite\s*\(\s*\$(?:sock|fp|s)\b|"
        r"->(?:AddBCC|addBCC)\b"
    ),
    Deed.LOOKUP: r"\b(?:dns_get_record|gethostbyname|gethostbynamel|checkdnsrr)\b",
    Deed.CONNECT: r"\b(?:fsockopen|pfsockopen|stream_socket_client|socket_connect|socket_create)\b",
    Deed.DECODE: (
        r"\b(?:base64_decode|gzinflate|gzuncompress|gzdecode|str_rot13|hex2bin|convert_uudecode|"
        r"openssl_decrypt)\s*\("
    ),
    Deed.ENCODE: r"\b(?:base64_encode|bin2hex|gzcompress|gzdeflate|urlencode|http_build_query)\s*\(",
    Deed.EVALUATE: (
        r"\b(?:eval|assert|create_function|call_user_func|call_user_func_array)\s*\(|"
        r"\bpreg_replace\s*\(\s*[\"'][^\"'\n]*/\w*e\w*[\"']|\b(?:include|require)(?:_once)?\s*\(?\s*\$"
    ),
    Deed.RUN: (
        r"\b(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_exec)\s*\(|\b(?:include|require)(?:_once)?\b|`"
    ),
    Deed.SHELL: r"\b(?:system|exec|shell_exec|passthru|popen|proc_open)\s*\(|`[^`\n]*\$",
    Deed.ENVIRONMENT: r"\bgetenv\s*\(\s*\)|\$_ENV\b\s*[,);]|\bphpinfo\s*\(|\$_SERVER\s*[,);]",
    Deed.INPUT: (
        r"\$_(?:GET|POST|REQUEST|COOKIE|FILES)\b|\$_SERVER\s*\[\s*[\"']HTTP_|php://input|\bgetallheaders\b|"
        r"\bfilter_input\b"
    ),
    Deed.ARGUMENT: r"\$argv\b|\$_SERVER\s*\[\s*[\"']argv|\bgetopt\s*\(",
    Deed.DATA: (
        r"\b(?:fgetcsv|str_getcsv|json_decode|simplexml_load_file|simplexml_load_string|yaml_parse\w*|"
        r"parse_ini_file)\s*\("
    ),
    Deed.READ: r"\b(?:file_get_contents|fopen|readfile|file|fread|glob|scandir)\s*\(|\bnew\s+CURLFile\b",
    Deed.WRITE: r"\b(?:file_put_contents|fwrite|copy|rename|symlink|move_uploaded_file)\s*\(",
    Deed.QUERY: (
        r"->(?:query|exec|get_results|get_var|prepare|multi_query)\s*\(|\b(?:mysqli_query|mysql_query|pg_query|"
        r"mysqli_multi_query)\s*\("
    ),
    Deed.REDIRECT: r"\bdescriptorspec\b|=>\s*\$(?:sock|s|fp)\b|<&|>&|\barray\s*\(\s*[\"']pipe",
}
LUA: Catalogue = {
    Deed.FETCH: (
        r"\bhttp\.request\b|\bhttps\.request\b|\b\w+\.request\s*\(\s*[\"']https?:|io\.popen\s*\(?\s*[\"'\[]+\s*(?:curl|wget)\b|"
        r"\bvim\.fn\.system\s*\(\s*\{?\s*[\"']\s*(?:curl|wget)|\bcurl\.get\b|\bHttpGet\b|\bPerformHttpRequest\b"
    ),
    Deed.SAVE: r"\bcurl\b[^\n]{0,80}\s-(?:o|O|Lo|sLo|fsSLo)\b|\bwget\b[^\n]{0,80}\s-O\b",
    Deed.SEND: (
        r"\bmethod\s*=\s*[\"']POST|\bcurl\b[^\n]{0,80}(?:\s-d\b|\s-F\b|\s-T\b|--data|--form|-X ?POST)|"
        r"\bcurl\.post\b|\bsmtp\.send\b|:send\s*\("
    ),
    Deed.LOOKUP: r"\bdns\.toip\b|\bgetaddrinfo\b|\bnslookup\b|\bdig\b",
    Deed.CONNECT: r"\bsocket\.(?:tcp|connect|udp)\b|\buv\.new_tcp\b|\bvim\.(?:uv|loop)\.new_tcp\b",
    Deed.DECODE: (
        r"\bbase64\.decode\b|\bunb64\b|\bmime\.unb64\b|\bfrom_?base64\b|\bdecode64\b|\bstring\.char\s*\(|"
        r"\bb64dec\w*|\bvim\.base64\.decode\b"
    ),
    Deed.ENCODE: r"\bbase64\.encode\b|\bmime\.b64\b|\bto_?base64\b|\bvim\.base64\.encode\b",
    Deed.EVALUATE: r"\b(?:load|loadstring|loadfile|dofile)\s*\(|\bvim\.cmd\b|\bluaeval\b|\bnvim_exec2?\b",
    Deed.RUN: (
        r"\bos\.execute\b|\bio\.popen\b|\bvim\.fn\.(?:system|jobstart|systemlist)\b|\bvim\.system\b|\buv\.spawn\b|"
        r"\bloop\.spawn\b"
    ),
    Deed.SHELL: r"\bos\.execute\b|\bio\.popen\b|\bvim\.fn\.(?:system|systemlist)\b",
    Deed.ENVIRONMENT: r"\bvim\.fn\.environ\b|\buv\.os_environ\b|io\.popen\s*\(?\s*[\"'](?:env|printenv)\b",
    Deed.INPUT: r"\bngx\.(?:var|req)\b|:receive\s*\(|\bio\.read\b",
    Deed.ARGUMENT: r"\barg\[|\.\.\.\s*$",
    Deed.DATA: r"\b(?:cjson|json|dkjson)\.decode\b|\bvim\.json\.decode\b",
    Deed.READ: r"\bio\.open\b|\bio\.lines\b|\bvim\.fn\.readfile\b|:read\s*\(",
    Deed.WRITE: r"\bio\.open\s*\([^\n]{0,120}[\"'][wa]|:write\s*\(|\bvim\.fn\.writefile\b|\bos\.rename\b",
    Deed.QUERY: r":(?:execute|exec|query)\s*\(",
    Deed.REDIRECT: r"<&|>&|\bstdio\s*=",
}
R: Catalogue = {
    Deed.FETCH: (
        r"\b(?:httr::)?GET\s*\(|\breadLines\s*\(\s*(?:url\s*\(|[\"']https?:)|\bgetURL\s*\(|\bcurl_fetch_\w+|"
        r"\breq_perform\b|\bsource_url\b|\burl\s*\(\s*[\"']https?:"
    ),
    Deed.SAVE: r"\bdownload\.file\s*\(|\bcurl_download\s*\(",
    Deed.SEND: r"\b(?:httr::)?(?:POST|PUT)\s*\(|\breq_body_\w+|\bsend\.mail\b|\bftpUpload\b|\bupload_file\s*\(",
    Deed.LOOKUP: r"\bnsl\s*\(",
    Deed.CONNECT: r"\bsocketConnection\s*\(",
    Deed.DECODE: r"\bbase64decode\s*\(|\bbase64_dec\s*\(|\brawToChar\s*\(|\bunserialize\s*\(|\bmemDecompress\s*\(",
    Deed.ENCODE: r"\bbase64encode\s*\(|\bbase64_enc\s*\(|\bserialize\s*\(",
    Deed.EVALUATE: r"\beval\s*\(\s*(?:parse|str2lang|str2expression)\b|\bsource\s*\(|\beval\s*\(",
    Deed.RUN: r"\bsystem2?\s*\(|\bshell\s*\(|\bprocessx::run\b",
    Deed.SHELL: r"\bsystem\s*\(|\bshell\s*\(",
    Deed.ENVIRONMENT: r"\bSys\.getenv\s*\(\s*\)",
    Deed.INPUT: r"\breq\$(?:body|args)\b|\breadLines\s*\(\s*con\b",
    Deed.ARGUMENT: r"\bcommandArgs\s*\(",
    Deed.DATA: r"\bread(?:_|\.)(?:csv|json|excel|xlsx|table)\s*\(|\bfromJSON\s*\(",
    Deed.READ: r"\breadLines\s*\(|\breadRDS\s*\(|\breadBin\s*\(|\bfile\s*\(",
    Deed.WRITE: r"\bwriteLines\s*\(|\bcat\s*\([^\n]{0,200}file\s*=|\bwriteBin\s*\(|\bfile\.copy\s*\(",
    Deed.QUERY: r"\bdb(?:GetQuery|Execute|SendQuery)\s*\(",
    Deed.REDIRECT: r"<&|>&",
}
