/** Sends one mail by SMTP (RFC 5321), with TLS or STARTTLS, and AUTH PLAIN or LOGIN. Passwords are sent over TLS only. */

import { Buffer } from 'node:buffer';
import { connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';

export interface SmtpServer {
  /** URL with `smtp:` or `smtps:`, with user and password if the server requires them. */
  readonly url: string;
  /** Additional CA certificates; undefined: the platform's list. */
  readonly ca?: string | undefined;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The part before the @ of `Message-ID`. */
  readonly id: string;
  readonly atMs: number;
}

const patienceMs = 15_000;
/** Limit of the time for the whole mail, as other alerts wait for it. */
const longestMs = 60_000;
const ports = { 'smtp:': 587, 'smtps:': 465 };
const longestAnswer = 64 * 1024;
const lineOfBase64 = 76;

class SmtpError extends Error {
  override readonly name = 'SmtpError';
}

export async function sendMail({ url, ca }: SmtpServer, mail: Mail, mostMs = longestMs): Promise<void> {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'smtps:';
  const address = { host, port: port === '' ? ports[isSecure ? 'smtps:' : 'smtp:'] : Number(port) };
  const tls = { servername: /^[\d.]+$|:/.test(host) ? '' : host, ...(ca !== undefined && { ca }) };
  const first = isSecure ? openTls({ ...address, ...tls }) : openTcp(address);
  const dialogue = new Dialogue(first);
  const limit = setTimeout(() => dialogue.end(new SmtpError('the mail server takes too long')), mostMs);
  try {
    await dialogue.expect('the greeting', 220);
    let offers = await dialogue.hello();
    let hasTls = isSecure;
    if (!isSecure && /^STARTTLS$/im.test(offers)) {
      await dialogue.say('STARTTLS', 220);
      await dialogue.secure(tls);
      hasTls = true;
      offers = await dialogue.hello();
    }
    if (username !== '') {
      if (!hasTls) throw new SmtpError('the mail server offers no TLS, so the password is not sent');
      await dialogue.authenticate(offers, decodeURIComponent(username), decodeURIComponent(password));
    }
    await dialogue.say(`MAIL FROM:<${mail.from}>`, 250);
    for (const to of mail.to) await dialogue.say(`RCPT TO:<${to}>`, 250, 251);
    await dialogue.say('DATA', 354);
    await dialogue.say(`${toMessage(mail)}\r\n.`, 250);
    dialogue.write('QUIT');
  } finally {
    clearTimeout(limit);
    dialogue.end();
  }
}

class Dialogue {
  #socket: Socket;
  #received = '';
  #waiting: { resolve(answer: string): void; reject(reason: Error): void } | undefined;
  #failure: Error | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen(socket);
  }

  #listen(socket: Socket): void {
    socket.setTimeout(patienceMs, () => socket.destroy(new SmtpError('the mail server does not answer')));
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
      if (this.#received.length > longestAnswer) socket.destroy(new SmtpError('the mail server says too much'));
      this.#settle();
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new SmtpError('the mail server closed the connection')));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
  }

  /** Ends an answer at its last line, which has a space after its code. */
  #settle(): void {
    const [whole] = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r?\n/.exec(this.#received) ?? [];
    if (whole === undefined || this.#waiting === undefined) return;
    this.#received = this.#received.slice(whole.length);
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    resolve(whole);
  }

  write(line: string): void {
    this.#socket.write(`${line}\r\n`);
  }

  async expect(what: string, ...codes: readonly number[]): Promise<string> {
    const answer = await new Promise<string>((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#waiting = { resolve, reject };
      this.#settle();
    });
    const code = Number(answer.slice(0, 3));
    if (!codes.includes(code)) throw new SmtpError(`the mail server answers ${code} to ${what}`);
    return answer;
  }

  say(line: string, ...codes: readonly number[]): Promise<string> {
    this.write(line);
    // Only the first word of the command is named: what follows may be a secret.
    return this.expect(/^[A-Z]+/.exec(line)?.[0] ?? 'the message', ...codes);
  }

  /** Greets the server; returns what it offers, one line each. */
  async hello(): Promise<string> {
    const answer = await this.say('EHLO postern.localhost', 250);
    return answer.replaceAll(/^\d{3}[- ]/gm, '').replaceAll('\r', '');
  }

  async secure(tls: { readonly servername: string; readonly ca?: string }): Promise<void> {
    const plain = this.#socket;
    plain.removeAllListeners();
    plain.setTimeout(0);
    // Bytes that came before TLS may be forged.
    this.#received = '';
    const secured = openTls({ socket: plain, ...tls });
    this.#socket = secured;
    this.#listen(secured);
    await new Promise<void>((resolve, reject) => {
      secured.once('secureConnect', resolve);
      secured.once('error', reject);
      secured.once('close', () => reject(new SmtpError('the mail server closed the connection')));
    });
  }

  async authenticate(offers: string, user: string, password: string): Promise<void> {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    if (/^AUTH[ =].*\bPLAIN\b/im.test(offers)) {
      await this.say(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, 235);
      return;
    }
    await this.say('AUTH LOGIN', 334);
    this.write(base64(user));
    await this.expect('the user', 334);
    this.write(base64(password));
    await this.expect('the password', 235);
  }

  end(error?: SmtpError): void {
    if (error !== undefined) this.#fail(error);
    this.#socket.on('error', () => undefined);
    this.#socket.end();
    this.#socket.destroySoon();
  }
}

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** The mail as text. Nothing in it can become a further header: line breaks are removed, and the text is base64. */
function toMessage({ from, to, subject, text, id, atMs }: Mail): string {
  const line = subject.replaceAll(/[\r\n]+/g, ' ');
  const encoded = isAscii(line) ? line : `=?utf-8?B?${Buffer.from(line).toString('base64')}?=`;
  const body = Buffer.from(text).toString('base64');
  return [
    `From: Postern <${from}>`,
    `To: ${to.map((one) => `<${one}>`).join(', ')}`,
    `Subject: ${encoded}`,
    `Date: ${new Date(atMs).toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}@${from.slice(from.indexOf('@') + 1)}>`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(body.match(new RegExp(`.{1,${lineOfBase64}}`, 'g')) ?? []),
  ].join('\r\n');
}
