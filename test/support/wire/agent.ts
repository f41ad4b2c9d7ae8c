/**
 * An agent on one kept connection, in as few words as HTTP allows: hundreds of them are to cost less than what they ask. Each question
 * holds a mark that only this agent and this question have.
 */
import { connect, type Socket } from 'node:net';

export interface Counts {
  /** Answers with the mark of their question. */
  readonly own: number;
  /** Any other answer. */
  readonly foreign: number;
}

export class Agent {
  readonly #socket: Socket;
  readonly #head: string;
  readonly #number: number;
  #heard: Buffer = Buffer.alloc(0);
  #answered: (body: string) => void = () => undefined;

  constructor({ url, port }: { readonly url: string; readonly port: number }, token: string, number: number) {
    this.#number = number;
    this.#socket = connect(port, '127.0.0.1').setNoDelay();
    this.#socket.on('data', (chunk: Buffer) => this.#hear(chunk));
    this.#head = [
      `POST ${new URL(url).pathname} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
    ].join('\r\n');
  }

  /** Calls a tool that echoes, one call after the other, always with id 1. */
  async callOften(name: string, times: number): Promise<Counts> {
    const counts = { own: 0, foreign: 0 };
    for (let call = 0; call < times; call++) {
      const mark = `agent ${this.#number} call ${call}.`;
      const answer = await this.#ask(name, mark);
      counts[answer.startsWith('{"jsonrpc":"2.0","id":1,') && answer.includes(mark) ? 'own' : 'foreign'] += 1;
    }
    return counts;
  }

  #ask(name: string, mark: string): Promise<string> {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{"mark":"${mark}"}}}`;
    this.#socket.write(`${this.#head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    return new Promise((resolve) => (this.#answered = resolve));
  }

  #hear(chunk: Buffer): void {
    this.#heard = this.#heard.length === 0 ? chunk : Buffer.concat([this.#heard, chunk]);
    const end = this.#heard.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#heard.toString('latin1', 0, end))?.[1]);
    if (this.#heard.length < end + 4 + length) return;
    const body = this.#heard.toString('utf8', end + 4, end + 4 + length);
    this.#heard = Buffer.alloc(0);
    this.#answered(body);
  }

  close(): void {
    this.#socket.destroy();
  }
}
