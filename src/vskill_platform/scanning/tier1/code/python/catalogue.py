"""What functions of Python and of well-known packages do, by their full names. Data, and the few questions asked of it.

A name is written as it is reached: `requests.Session().post` is the method of what a call of `requests.Session` gives.
"""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.python.values import (
    DECODED,
    IDENTITY,
    INPUT,
    MEMBER,
    NETWORK,
    PARSED,
    REQUEST,
    SECRET,
    TABLE,
)
from vskill_platform.scanning.tier1.code.python.vocabulary import words

FREE_NAMES = {
    "Path": "pathlib.Path",
    "urlopen": "urllib.request.urlopen",
    "urlretrieve": "urllib.request.urlretrieve",
    "b64decode": "base64.b64decode",
    "Popen": "subprocess.Popen",
    "check_output": "subprocess.check_output",
    "get_ipython": "IPython.get_ipython",
}
"""What a fragment means by a name that it does not import."""

EVALUATORS = words(
    "exec eval execfile code.interact code.InteractiveInterpreter().runsource code.InteractiveInterpreter().runcode "
    "code.InteractiveConsole().push code.InteractiveConsole().runsource timeit.timeit timeit.Timer cProfile.run profile.run "
    "pdb.run trace.Trace().run types.FunctionType IPython.get_ipython().run_cell IPython.get_ipython().ex "
    "IPython.get_ipython().run_cell_async IPython.get_ipython().ev IPython.get_ipython().run_code IPython.run_cell "
    "IPython.core.interactiveshell.InteractiveShell.instance().run_cell IPython.InteractiveShell.instance().run_cell"
)
SHELLS = words(
    "os.system os.popen os.popen2 os.popen3 subprocess.getoutput subprocess.getstatusoutput commands.getoutput "
    "commands.getstatusoutput asyncio.create_subprocess_shell asyncio.subprocess.create_subprocess_shell popen2.popen2 "
    "posix.system nt.system platform.popen pexpect.run pexpect.spawn IPython.get_ipython().system pty.spawn "
    "IPython.get_ipython().system_raw IPython.get_ipython().system_piped IPython.get_ipython().getoutput "
    "IPython.get_ipython().getoutput_piped IPython.get_ipython().run_line_magic IPython.get_ipython().run_cell_magic "
    "IPython.utils.process.system IPython.utils.process.getoutput"
)
MAGICS = {"IPython.get_ipython().run_line_magic": 1, "IPython.get_ipython().run_cell_magic": 2}
"""Shells whose command is not the first argument, with its place: before it stands the name of what runs it."""
PROCESSES = words(
    "subprocess.run subprocess.call subprocess.Popen subprocess.check_call subprocess.check_output os.startfile "
    "asyncio.create_subprocess_exec asyncio.subprocess.create_subprocess_exec anyio.run_process anyio.open_process "
    "trio.run_process psutil.Popen _posixsubprocess.fork_exec"
)
SPAWNERS = words(
    "os.execv os.execve os.execvp os.execvpe os.execl os.execle os.execlp os.execlpe os.spawnv os.spawnve os.spawnvp "
    "os.spawnvpe os.spawnl os.spawnle os.spawnlp os.spawnlpe os.posix_spawn os.posix_spawnp"
)
LOADERS = words(
    "runpy.run_path importlib.util.spec_from_file_location importlib.machinery.SourceFileLoader imp.load_source "
    "imp.load_dynamic importlib.machinery.ExtensionFileLoader ctypes.CDLL ctypes.cdll.LoadLibrary ctypes.WinDLL "
    "ctypes.windll.LoadLibrary ctypes.PyDLL zipimport.zipimporter"
)
DESERIALISERS = words(
    "pickle.load pickle.loads pickle.Unpickler cPickle.load cPickle.loads _pickle.loads _pickle.load dill.load dill.loads "
    "cloudpickle.load cloudpickle.loads marshal.load marshal.loads shelve.open joblib.load torch.load jsonpickle.decode "
    "pandas.read_pickle pd.read_pickle yaml.load yaml.unsafe_load yaml.full_load yaml.load_all"
)
DANGEROUS = (
    EVALUATORS
    | SHELLS
    | PROCESSES
    | SPAWNERS
    | words("compile __import__ socket.socket socket.create_connection marshal.loads")
)
"""What nobody has a reason to look up by a text that was put together."""

NETWORK_ROOTS = words(
    "requests httpx aiohttp urllib urllib2 urllib3 http httplib httplib2 socket websocket websockets smtplib ftplib paramiko "
    "boto3 botocore telegram telebot discord discord_webhook slack_sdk pycurl dns xmlrpc pysftp dropbox minio paho telnetlib "
    "nntplib scapy curl_cffi treq tornado cloudscraper socketio niquests asyncssh fabric yagmail wget gdown poplib imaplib "
    "http_client aioboto3 aioftp aiosmtplib tweepy praw ftputil grpc zmq stomp pika kafka nats redis pymongo"
)
_NOT_NETWORK = (
    "urllib.parse",
    "urllib.error",
    "urllib.robotparser",
    "http.server",
    "http.cookies",
    "http.cookiejar",
    "http.HTTPStatus",
    "socket.gethostname",
    "socket.getfqdn",
    "socket.inet_",
    "socket.hton",
    "socket.ntoh",
    "socket.setdefaulttimeout",
    "socket.error",
    "socket.timeout",
    "requests.exceptions",
    "requests.utils",
    "requests.compat",
    "requests.adapters",
    "requests.packages",
    "urllib3.disable_warnings",
    "urllib3.util",
    "urllib3.exceptions",
    "httpx.Timeout",
    "httpx.Limits",
    "httpx.HTTPStatusError",
    "httpx.RequestError",
    "aiohttp.ClientTimeout",
    "aiohttp.web",
    "aiohttp.TCPConnector",
    "telegram.ext.filters",
    "discord.Intents",
    "discord.Embed",
    "boto3.dynamodb.conditions",
    "botocore.config",
    "botocore.exceptions",
    "paramiko.AutoAddPolicy",
    "tornado.ioloop",
)
SEARCHES = words("re.search re.match re.findall re.fullmatch")
REQUESTS = words("urllib.request.Request urllib2.Request requests.Request httpx.Request")
CARRIERS = REQUESTS | words(
    "aiohttp.FormData requests.auth.HTTPBasicAuth requests.Request().prepare aiohttp.BasicAuth httpx.BasicAuth "
    "aiohttp.MultipartWriter"
)
"""What only holds what will be sent."""

SENDING_METHODS = words(
    "post put patch request get head delete urlopen urlretrieve send sendall sendto sendmail send_message send_json "
    "send_bytes send_text send_document send_file sendMessage sendDocument write storbinary storlines upload upload_file "
    "upload_fileobj put_object upload_blob upload_from_filename upload_from_string put_item publish execute open connect "
    "gethostbyname getaddrinfo resolve query create_connection putfo putrequest endheaders fetch files_upload basic_publish "
    "chat_postMessage Webhook DiscordWebhook add_embed add_file set insert_one lpush rpush run login auth uploadFile drain "
    "single multiple"
)
"""The last words of calls that hand something to the network."""
LOGINS = words("login auth authenticate connect starttls credentials set_credentials")
"""Those that are given a key in order to be let in."""
LOG_HANDLERS = words(
    "logging.handlers.HTTPHandler logging.handlers.SocketHandler logging.handlers.DatagramHandler logging.handlers.SMTPHandler"
)
ADDRESS_READERS = frozenset(
    f"{package}.{word}"
    for package in ("pandas", "pd", "polars", "pl", "geopandas", "dask.dataframe", "modin.pandas", "vaex")
    for word in words(
        "read_csv read_json read_html read_table read_excel read_parquet read_xml read_fwf read_feather read_ndjson read_file "
        "read_stata read_orc scan_csv scan_parquet scan_ndjson open"
    )
) | words("numpy.loadtxt numpy.genfromtxt fsspec.open smart_open.open")
"""What reads a table from a file, and from the network where it is given an address."""
METADATA_HOSTS = words("169.254.169.254 metadata.google.internal 100.100.100.200 fd00:ec2::254 169.254.170.2")
"""Where a machine in a cloud asks for its own credentials."""
COMMON_WORDS = words("get set add put delete head write open resolve query insert publish login pop fetch")
"""Those that mean many things; a dictionary has some of them."""
UPLOADERS = words(
    "upload_file upload put put_file fput_object upload_from_filename storbinary send_document send_file files_upload "
    "upload_blob add_file sendDocument uploadFile"
)
"""Those that are given a path and send what is there."""
LOOSE_SENDERS = words(
    "post patch sendall sendto sendmail send_message send_document sendMessage upload_file upload_fileobj put_object"
)
"""Those whose name tells what they do, whoever they belong to."""

SOURCES = {
    **dict.fromkeys(
        words(
            "pyperclip.paste win32clipboard.GetClipboardData PIL.ImageGrab.grab "
            "ImageGrab.grab PIL.ImageGrab.grabclipboard pyautogui.screenshot pyscreenshot.grab win32crypt.CryptUnprotectData "
            "keyboard.record keyboard.read_event keyboard.read_key keyboard.get_typed_strings browser_cookie3.chrome "
            "browser_cookie3.firefox browser_cookie3.load browser_cookie3.edge browser_cookie3.brave rookiepy.chrome "
            "rookiepy.load rookiepy.firefox mss.mss mss.mss().grab mss.mss().shot tkinter.Tk().clipboard_get "
            "secretstorage.get_default_collection keyring.get_credential clipboard.paste eth_keyfile.extract_key_from_keyfile "
            "eth_keyfile.decode_keyfile_json eth_account.Account.decrypt "
            "botocore.utils.InstanceMetadataFetcher().retrieve_iam_role_credentials "
            "botocore.utils.ContainerMetadataFetcher().retrieve_uri "
            "botocore.utils.ContainerMetadataFetcher().retrieve_full_uri"
        ),
        SECRET,
    ),
    **dict.fromkeys(
        words(
            "socket.gethostname socket.getfqdn platform.node getpass.getuser os.getlogin uuid.getnode pwd.getpwuid pwd.getpwall"
        ),
        IDENTITY,
    ),
    **dict.fromkeys(words("input raw_input sys.stdin.read sys.stdin.readline sys.stdin.readlines click.prompt"), INPUT),
    **dict.fromkeys(
        words(
            "Crypto.Cipher.AES.new().decrypt cryptography.fernet.Fernet().decrypt nacl.secret.SecretBox().decrypt "
            "marshal.loads marshal.load zlib.decompressobj().decompress"
        ),
        DECODED,
    ),
    **dict.fromkeys(
        words(
            "json.load yaml.safe_load yaml.load tomllib.load tomllib.loads toml.load toml.loads xml.etree.ElementTree.parse"
        ),
        PARSED,
    ),
    "configparser.ConfigParser().get": PARSED | MEMBER,
    **dict.fromkeys(
        words("csv.reader csv.DictReader pandas.read_excel pandas.read_table openpyxl.load_workbook"), PARSED | TABLE
    ),
}
METHOD_SOURCES = {"get_frozen_credentials": SECRET, "storage_state": SECRET, "get_cookies": SECRET}
"""Sources that are known by their last word, whoever has them."""
ATTRIBUTE_SOURCES = {"sys.argv": INPUT, "sys.stdin": INPUT, "flask.request": REQUEST, "bottle.request": REQUEST}
REQUEST_PARTS = words("rfile recv recvfrom accept")
CALLBACK_SOURCES = {
    "pynput.keyboard.Listener": SECRET,
    "pynput.mouse.Listener": SECRET,
    "keyboard.on_press": SECRET,
    "keyboard.on_release": SECRET,
    "keyboard.hook": SECRET,
    "keyboard.add_hotkey": 0,
    "pyHook.HookManager": SECRET,
    "websocket.WebSocketApp": NETWORK,
    "websockets.serve": NETWORK,
    "asyncio.start_server": NETWORK,
}

DECODERS = {
    "base64.b64decode": "base64",
    "base64.standard_b64decode": "base64",
    "base64.decodebytes": "base64",
    "base64.decodestring": "base64",
    "base64.urlsafe_b64decode": "base64url",
    "base64.b32decode": "base32",
    "base64.b16decode": "base16",
    "base64.b85decode": "base85",
    "base64.a85decode": "ascii85",
    "binascii.unhexlify": "hex",
    "binascii.a2b_hex": "hex",
    "binascii.a2b_base64": "base64",
    "bytes.fromhex": "hex",
    "bytearray.fromhex": "hex",
    "zlib.decompress": "zlib",
    "gzip.decompress": "zlib",
    "bz2.decompress": "bz2",
    "lzma.decompress": "lzma",
    "urllib.parse.unquote": "url",
    "urllib.parse.unquote_plus": "url",
    "html.unescape": "html",
    "unicodedata.normalize": "unicode",
}
READABLE_CODINGS = words("url html unicode")
"""Ways of writing that hide nothing by themselves."""

FRESH = words(
    "len print isinstance issubclass hasattr callable type id hash bool round abs min max sum any all range enumerate_count "
    "float int super property staticmethod classmethod exit quit time.time time.sleep random.random random.randint "
    "os.path.exists os.path.isfile os.path.isdir os.path.getsize os.path.getmtime os.makedirs os.mkdir os.chmod os.getpid "
    "os.access os.stat sys.exit sys.exc_info logging.info logging.debug logging.warning logging.error logging.getLogger "
    "re.compile datetime.datetime.now datetime.now time.strftime uuid.uuid4 secrets.token_hex threading.Lock asyncio.sleep "
    "traceback.format_exc warnings.warn argparse.ArgumentParser"
)
"""What gives something that has nothing of its arguments in it."""
_FRESH_ROOTS = words("hashlib hmac logging logger log random secrets")
CLEANSERS = words(
    "shlex.quote pipes.quote os.path.basename werkzeug.utils.secure_filename secure_filename re.sub re.escape slugify "
    "int float uuid.UUID ast.literal_eval"
)
"""What takes the sting out of what a user gives."""
TRANSFORMERS = words(
    "str repr json.dumps dict list tuple set bytes bytearray format base64.b64encode base64.urlsafe_b64encode base64.b32encode "
    "urllib.parse.quote urllib.parse.urlencode urllib.parse.quote_plus binascii.hexlify zlib.compress gzip.compress yaml.dump "
    "pickle.dumps ascii reversed sorted map filter zip enumerate copy.copy copy.deepcopy io.BytesIO io.StringIO next iter "
    "itertools.chain itertools.islice operator.itemgetter"
)
"""What gives its arguments in another form."""

MEMBERS_OF_PATH = words(
    "resolve absolute expanduser as_posix joinpath with_suffix with_name relative_to __str__ __fspath__"
)
OPENERS = words(
    "open io.open codecs.open os.fdopen gzip.open bz2.open lzma.open aiofiles.open tarfile.open zipfile.ZipFile sqlite3.connect "
    "tarfile.TarFile pyzipper.AESZipFile open_file"
)
DOWNLOADERS = words("urlretrieve download download_file download_fileobj download_to_filename retrbinary")
WRITERS = words("write_text write_bytes")
READERS = words("read_text read_bytes")
COPIERS = words(
    "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.move os.rename os.replace os.link os.symlink"
)
WALKERS = words("os.walk os.listdir os.scandir glob.glob glob.iglob os.fwalk")
REMOVERS = words(
    "shutil.rmtree os.remove os.unlink os.rmdir os.removedirs os.truncate pathlib.Path().unlink "
    "pathlib.Path().rmdir send2trash.send2trash"
)
TOOL_MARKS = words(
    "tool function_tool mcp_tool ai_function kernel_function register_tool call_tool agent_tool route api_view websocket_route"
)
MESSAGE_MARKS = words("message_handler channel_post_handler on_message edited_message_handler callback_query_handler")
"""Decorators of what a chat calls with whatever somebody writes."""
METHOD_MARKS = words("get post put delete patch websocket resource prompt command")
CLI_NAMES = words("click cli app typer")
COMMAND_MARKS = words("command group argument option callback")


_OTHER_WORDS = words(
    "compile __import__ import_module getattr dup2 fork Thread Process executemany executescript unlink rmtree main communicate "
    "SetValueEx retrieve make_archive add writestr retr retrbinary download __subclasses__ encrypt start start_new_thread "
    "memmove RtlMoveMemory create_string_buffer from_buffer from_buffer_copy CFUNCTYPE"
)


def root_of(name: str) -> str:
    """The first word of a name."""
    return name.partition(".")[0].partition("(")[0].partition("[")[0]


def last_of(name: str) -> str:
    """The last word of a name."""
    return name.rpartition(".")[2]


def is_network(name: str) -> bool:
    """Whether what has this name speaks to the network."""
    if name.startswith(("asyncio.open_connection", "ssl.wrap_socket", "ssl.SSLContext().wrap_socket")):
        return True
    if name.startswith("ssl.create_default_context().wrap_socket"):
        return True
    return root_of(name) in NETWORK_ROOTS and not name.startswith(_NOT_NETWORK)


def is_fresh(name: str) -> bool:
    """Whether what a call of this name gives has nothing of its arguments in it."""
    return name in FRESH or root_of(name) in _FRESH_ROOTS


def source(name: str) -> int:
    """What a call of this name brings with it; 0 for one that is no source."""
    return SOURCES.get(name, 0) or METHOD_SOURCES.get(last_of(name), 0)


def interesting_words() -> frozenset[str]:
    """The last words of all calls that are worth a question."""
    named = (
        EVALUATORS
        | SHELLS
        | PROCESSES
        | SPAWNERS
        | LOADERS
        | DESERIALISERS
        | COPIERS
        | REMOVERS
        | OPENERS
        | LOG_HANDLERS
    )
    last_words = frozenset(last_of(name) for name in (*named, *DECODERS))
    return last_words | SENDING_METHODS | UPLOADERS | LOOSE_SENDERS | WRITERS | _OTHER_WORDS
