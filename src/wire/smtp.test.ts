import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createSecureContext, TLSSocket } from 'node:tls';
import { localhostCertificate, localhostKey } from '../../test/support/upstreams/localhost-certificate.ts';
import { type Mail, sendMail } from './smtp.ts';

const mail: Mail = {
  from: 'postern@example.com',
  to: ['ops@example.com', 'on-call@example.com'],
  subject: 'Überlauf\r\nBcc: all@example.com',
  text: '30 % of calls fail.\n.\nAnd more.',
  id: '1f.opened',
  atMs: Date.UTC(2027, 0, 1),
};

interface Script {
  readonly offers?: readonly string[];
  /** What it answers to a command that begins so. */
  readonly answers?: Readonly<Record<string, string>>;
}

/** A mail server with a script, which records the commands. */
async function startServer(t: TestContext, { offers = [], answers = {} }: Script) {
  const said: string[] = [];
  function talk(socket: Socket | TLSSocket, isSecure: boolean): void {
    let isData = false;
    let rest = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      rest += String(chunk);
      const lines = rest.split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        said.push(`${isSecure ? 'tls ' : ''}${line}`);
        if (isData) {
          if (line === '.') {
            isData = false;
            socket.write('250 taken\r\n');
          }
          continue;
        }
        const given = Object.entries(answers).find(([command]) => line.startsWith(command))?.[1];
        if (given !== undefined) socket.write(`${given}\r\n`);
        else if (line.startsWith('EHLO')) {
          socket.write(`${['250-here', ...offers.map((offer) => `250-${offer}`), '250 SIZE'].join('\r\n')}\r\n`);
        } else if (line === 'DATA') {
          isData = true;
          socket.write('354 go on\r\n');
        } else if (line === 'STARTTLS') {
          socket.write('220 go on\r\n', () => {
            socket.removeAllListeners('data');
            const secureContext = createSecureContext({ cert: localhostCertificate, key: localhostKey });
            talk(new TLSSocket(socket, { isServer: true, secureContext }), true);
          });
        } else if (line.startsWith('AUTH PLAIN')) socket.write('235 welcome\r\n');
        else socket.write('250 fine\r\n');
      }
    });
  }
  const server: Server = createServer((socket) => {
    socket.write('220-hello\r\n220 there\r\n');
    talk(socket, false);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return { said, url: `smtp://localhost:${address.port}`, port: address.port };
}

test('sends mail to each recipient, and its content cannot inject headers or an end', async (t) => {
  const { said, url } = await startServer(t, {});
  await sendMail({ url }, mail);
  assert.deepEqual(said.slice(0, 5), [
    'EHLO postern.localhost',
    'MAIL FROM:<postern@example.com>',
    'RCPT TO:<ops@example.com>',
    'RCPT TO:<on-call@example.com>',
    'DATA',
  ]);
  const message = said.slice(5, said.lastIndexOf('.'));
  assert.ok(!message.some((line) => /^(Bcc|\.)/.test(line)));
  const subject = message.find((line) => line.startsWith('Subject: '))?.slice('Subject: =?utf-8?B?'.length, -2);
  assert.equal(Buffer.from(subject ?? '', 'base64').toString(), 'Überlauf Bcc: all@example.com');
  assert.ok(message.includes('Message-ID: <1f.opened@example.com>'));
  const body = message.slice(message.indexOf('') + 1).join('');
  assert.equal(Buffer.from(body, 'base64').toString(), mail.text);
});

test('uses STARTTLS if offered, and sends user and password only over it', async (t) => {
  const { said, port } = await startServer(t, { offers: ['STARTTLS', 'AUTH LOGIN PLAIN'] });
  await sendMail({ url: `smtp://ada:s%40cret@localhost:${port}`, ca: localhostCertificate }, mail);
  const plain = said.filter((line) => !line.startsWith('tls '));
  assert.deepEqual(plain, ['EHLO postern.localhost', 'STARTTLS']);
  assert.ok(said.includes(`tls AUTH PLAIN ${Buffer.from('\0ada\0s@cret').toString('base64')}`));
});

test('sends no password without TLS, or to a server with an invalid certificate', async (t) => {
  const bare = await startServer(t, { offers: ['AUTH PLAIN'] });
  await assert.rejects(sendMail({ url: `smtp://ada:secret@localhost:${bare.port}` }, mail), {
    message: 'the mail server offers no TLS, so the password is not sent',
  });
  const other = await startServer(t, { offers: ['STARTTLS', 'AUTH PLAIN'] });
  await assert.rejects(sendMail({ url: `smtp://ada:secret@localhost:${other.port}` }, mail));
  assert.ok(![...bare.said, ...other.said].some((line) => line.includes('AUTH')));
});

test('reports which command the server refused', async (t) => {
  const { url } = await startServer(t, { answers: { 'RCPT TO:<on-call': '550 no such user' } });
  await assert.rejects(sendMail({ url }, mail), { message: 'the mail server answers 550 to RCPT' });
});

test('gives up on a mail server that answers byte by byte and never ends', async (t) => {
  const server = createServer((socket) => {
    const dripping = setInterval(() => socket.write('2'), 10);
    socket.on('error', () => undefined).on('close', () => clearInterval(dripping));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  const sending = sendMail({ url: `smtp://127.0.0.1:${address.port}` }, mail, 200);
  await assert.rejects(sending, { message: 'the mail server takes too long' });
});
