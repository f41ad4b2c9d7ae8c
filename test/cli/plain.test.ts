import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { run as call } from '../../src/cli/commands/call.ts';
import { run as status } from '../../src/cli/commands/status.ts';
import { run as tools } from '../../src/cli/commands/tools.ts';
import { coloured, plain } from '../../src/cli/plain.ts';
import { openControl, type Commands } from '../../src/host/control.ts';

const hostile = [
  '\u001b]52;c;aGk=\u0007', // writes the clipboard
  '\u001b[2J\u001b[1;1H', // wipes the screen
  '\u009b31m', // the same in one character
  '\u202egnp.exe\u2066', // turns the direction of reading
  'a\rb\u0000\u007f\u0008',
];
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

test.each(hostile)('%j moves nothing and stays readable', (text) => {
  expect(plain(`before ${text} after`)).toMatch(/^before .* after$/s);
  expect(plain(text)).not.toMatch(obeyed);
});

test('line breaks, tabs, other scripts and joined emoji stay as they are', () => {
  const text = 'a\n\tb\r\nשלום 👩‍💻 é';
  expect(plain(text)).toBe('a\n\tb\nשלום 👩‍💻 é');
});

test('of text that is partly our own only the colours are kept', () => {
  expect(coloured('\u001b[1;31mred\u001b[0m \u001b[2J')).toBe('\u001b[1;31mred\u001b[0m \ufffd[2J');
});

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** What a command prints to a person, from a daemon that answers so. */
async function printed(commands: Commands, run: (context: never) => Promise<unknown>): Promise<string> {
  const state = mkdtempSync(join(tmpdir(), 'dacapo-plain-'));
  const control = await openControl(join(state, 'control.sock'), commands, () => undefined);
  ends.push(
    () => control.close(),
    () => rmSync(state, { recursive: true }),
  );
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const output = {
    json: false,
    note: say,
    lines: async (texts: Iterable<string>) => [...texts].forEach(say),
    result: (_: unknown, text: () => string) => say(text()),
  };
  await run({ options: { state, args: '{}' }, output } as never);
  return said.join('\n');
}

test('a log that takes no writes is the first thing that status says', async () => {
  const quiet = { account: null, routes: [], wanted: null, due: [], anomalies: [] };
  const answers = (readOnly: boolean) => ({
    status: async () => ({ ...quiet, daemon: { readOnly } }),
    position: async () => ({ position: 1, stateHash: 'h' }),
  });
  expect(await printed(answers(true), (context) => status(context))).toMatch(
    /^THE LOG TAKES NO WRITES.*\n\s+next: free/,
  );
  expect(await printed(answers(false), (context) => status(context))).toMatch(/^No account/);
});

test('what a tool says, names and describes reaches a terminal as text', async () => {
  const evil = hostile.join('');
  const content = [{ type: 'text', text: evil }];
  const answers = {
    call: async () => ({ resultText: JSON.stringify({ content }), isError: false }),
    tools: async () => ({
      tools: [{ name: 'x__y', description: evil }],
      missing: [{ connector: 'x', reason: evil }],
      excluded: [{ connector: 'x', tool: evil, reason: evil }],
    }),
  };
  const refused = { call: async () => ({ error: { code: -32050, message: evil } }) };
  const texts = [
    await printed(answers, (context) => call(context, 'x__y')),
    await printed(refused, (context) => call(context, 'x__y')),
    await printed(answers, (context) => tools(context)),
  ];
  for (const text of texts) expect(text.replaceAll('\ufffd', '')).toContain('gnp.exe');
  expect(texts.join('')).not.toMatch(obeyed);
});
