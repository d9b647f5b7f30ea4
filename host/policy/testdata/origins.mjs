// Writes origins.json: what Chromium takes for the origin of each URL below.
//   node origins.mjs /path/to/chromium > origins.json
// "" is a URL Chromium does not parse, "null" an opaque origin.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

// plain: Go must agree. tricky: Go must agree or refuse.
const plain = [
  'https://example.com', 'https://example.com/', 'HTTPS://EXAMPLE.COM/A', 'https://example.com:443/x', 'http://example.com:80',
  'http://example.com:443', 'https://example.com:80', 'https://example.com:8443/a?b#c', 'https://example.com:', 'https://example.com:0443/',
  'https://example.com:0/', 'https://example.com:65535/', 'https://sub.example.co.uk/', 'https://example.com./', 'https://a.b.c.d.e.f.example.com/',
  'https://under_score.example.com/', 'https://-dash-.example.com/', 'https://intranet/', 'https://xn--bcher-kva.example/',
  'https://bücher.example/', 'https://BÜCHER.example/', 'https://faß.de/', 'https://ＥＸＡＭＰＬＥ.com/', 'https://example。com/',
  'https://аpple.com/', 'https://xn--pple-43d.com/', 'https://münchen。de:8080/', 'https://例え.テスト/', 'https://☃.net/',
  'https://user@example.com/', 'https://user:pass@example.com/', 'https://good.test@evil.test/', 'https://good.test:443@evil.test:8443/',
  'https://good.test%2f@evil.test/', 'https://a@b@evil.test/', 'https://evil.test/@good.test', 'https://evil.test?@good.test',
  'https://evil.test#@good.test', 'https://evil.test/\\@good.test', 'https://good.test.evil.test/', 'https://evil.test/?u=https://good.test/',
  'http://127.0.0.1:8080/', 'http://127.1/', 'http://127.0.1/', 'http://0x7f000001/', 'http://0x7f.1/', 'http://0x7F.0x0.0x0.0x1/',
  'http://2130706433/', 'http://017700000001/', 'http://0177.0.0.1/', 'http://0177.1/', 'http://127.0.0.1./', 'http://0/', 'http://0.0.0.0/',
  'http://0x/', 'http://256/', 'http://255.255.255.255/', 'http://localhost/', 'http://LOCALHOST:3000/', 'http://localhost./',
  'http://app.localhost:3000/', 'http://１２７.0.0.1/', 'http://[::1]/', 'http://[::1]:8080/', 'http://[0:0:0:0:0:0:0:1]/', 'http://[::]/',
  'http://[::ffff:127.0.0.1]/', 'http://[::FFFF:7F00:1]/', 'http://[::127.0.0.1]/', 'http://[2001:DB8::0001]/', 'http://[2001:db8:0:0:1:0:0:1]/',
  'http://[1:0:0:2:0:0:0:3]/', 'http://[fe80::1]/', 'http://[64:ff9b::127.0.0.1]/', 'http://[1:2:3:4:5:6:7:0]/', 'http://169.254.169.254/latest',
  'blob:https://example.com/1f0e', 'blob:https://example.com:8443/1f0e', 'BLOB:http://127.1/x',
  'https://example.com/%zz', 'https://example.com/a b', 'https://1.2.3.com/', 'https://a.0xg/', 'https://3com.test/', 'https://x.y1/',
];
const tricky = [
  'https:example.com', 'https:/example.com', 'https:///example.com', 'https:\\\\example.com', 'https://good.test\\@evil.test/',
  'https://good.test\\.evil.test/', '\\\\example.com', '//example.com', 'example.com', ' https://example.com', 'https://example.com\n/',
  'https://exam\tple.com/', 'ht\ntps://example.com', 'https://exa%6dple.com/', 'https://%65xample.com', 'https://example%2ecom/',
  'https://good.test%00.evil.test/', 'https://good.test%2f.evil.test/', 'https://[::1', 'https://::1/', 'https://[::1%25eth0]/',
  'https://[fe80::1%eth0]/', 'https://[1::2::3]/', 'https://[::ffff:127.1]/', 'http://127.0.0.1.1/', 'http://1.2.3.256/', 'http://4294967296/',
  'http://4294967295/', 'http://0x100000000/', 'http://08.1/', 'http://1..2/', 'http://a..b/', 'http://.a/', 'http://a.1/', 'http://a.0x1/',
  'http://0x7f.1.evil/', 'https://example.com:65536/', 'https://example.com:-1/', 'https://example.com:+80/', 'https://example.com:8a/',
  'https://example.com:%38/', 'https://', 'https:///', 'https://@/', 'https://:80/', 'https://a:b@/', 'https://exa mple.com/', 'https://exa<mple.com/',
  'https://ex|ample.com/', 'https://ex^ample.com/', 'https://a!b.test/', "https://a'b.test/", 'https://a*b.test/', 'https://*.example.com/',
  'https://a,b.test/', 'https://a;b.test/', 'https://a=b.test/', 'https://a~b.test/', 'https://xn--/', 'https://xn--a/', 'https://xn--0.test/', 'https://a\u00adb.test/',
  'https://a\u200db.test/', 'https://\u202emoc.test/', 'https://a\u0000b.test/', 'https://a\u007fb.test/', 'https://ex\u2044ample.com/',
  'https://a\u2100b.test/', 'https://\uff0fevil.test/', 'https://good.test\uff0f.evil.test/', 'https://good.test\uff20evil.test/', 'https://good.test\uff1aevil/',
  'https://\u0661.test/', 'https://אב1.test/', 'https://1אב.test/', 'https://' + 'a'.repeat(64) + '.test/', 'https://' + 'a.'.repeat(130) + 'test/',
  'blob:null/1f0e', 'blob:file:///etc', 'blob:blob:https://example.com/x', 'blob:', 'blob:about:blank', 'blob: https://example.com/x',
  'file:///etc/passwd', 'data:text/html,x', 'javascript:alert(1)', 'view-source:https://example.com', 'chrome://settings', 'about:blank',
  'chrome-extension://kabegceaidfheajlmbdeclmnnflkndej/x.html', 'filesystem:https://example.com/temporary/x', 'ftp://example.com/', 'ws://example.com/', 'wss://example.com/',
  '', ':', 'https', 'http://\ud800.test/',
];
const rows = [...plain.map(url => ({url, plain: true})), ...tricky.map(url => ({url, plain: false}))];
const page = rows => {
  const origin = url => { try { return new URL(url).origin; } catch { return ''; } };
  document.body.textContent = '@' + btoa(JSON.stringify(rows.map(row => origin(row.url)))) + '@';
};
const dir = mkdtempSync(join(tmpdir(), 'origins-'));
try {
  const html = `<meta charset=utf-8><body><script>(${page})(${JSON.stringify(rows).replaceAll('<', '\\u003c')})</script>`;
  writeFileSync(join(dir, 'page.html'), html);
  const dom = execFileSync(process.argv[2], [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync',
    `--user-data-dir=${join(dir, 'profile')}`, '--dump-dom', `file://${join(dir, 'page.html')}`,
  ], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000});
  const origins = JSON.parse(Buffer.from(dom.split('@')[1], 'base64').toString('latin1'));
  const lines = rows.map(({url, plain}, i) => JSON.stringify({url: url.toWellFormed(), origin: origins[i], plain}));
  console.log('[\n  ' + lines.join(',\n  ') + '\n]');
} finally {
  rmSync(dir, {recursive: true, force: true, maxRetries: 5});
}
