import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openPair } from '../support/protocol/client.ts';
import { error, json, result, stream, text, tool } from '../support/protocol/peer.ts';

/** What a server may do with a request that it has read; all but one may have run the tool. */
const answers = {
  result: (response: ServerResponse, id: unknown) => json(response, result(id, text('done'))),
  'http 500': (response: ServerResponse) => json(response, '{}', 500),
  'http 503': (response: ServerResponse) => json(response, '{}', 503, { 'retry-after': '0' }),
  'http 429': (response: ServerResponse) => json(response, '{}', 429, { 'retry-after': '0' }),
  'not json': (response: ServerResponse) => json(response, '<html>'),
  'an answer to another request': (response: ServerResponse) => json(response, result('other', text('done'))),
  'no answer': (response: ServerResponse) => response.destroy(),
  'a stream that breaks': (response: ServerResponse) => stream(response).write(': hello\n\n', () => response.destroy()),
  'timed out': (response: ServerResponse, id: unknown) => json(response, error(id, -33004), 504),
  'header mismatch, nothing ran': (response: ServerResponse, id: unknown) => json(response, error(id, -32020), 400),
} as const;
type Answer = keyof typeof answers;
const names = Object.keys(answers) as Answer[];
/** After this one the call may be made again, once, as nothing can have run. */
const REFUSED: Answer = 'header mismatch, nothing ran';

/** How often a call reached the tool while the server behaved like this, request by request. */
async function executions(behaviour: readonly Answer[]): Promise<number> {
  let ran = 0;
  let calls = 0;
  await using pair = await openPair(({ body }, response) => {
    if (body.method !== 'tools/call') return json(response, result(body.id, { tools: [tool('act')] }));
    const answer = behaviour[calls++ % behaviour.length]!;
    if (answer !== REFUSED) ran++;
    return answers[answer](response, body.id);
  });
  await pair.client.callTool({ name: 'act', bindings: [], args: undefined });
  expect(calls).toBeLessThanOrEqual(behaviour[0] === REFUSED ? 2 : 1);
  return ran;
}

test('L17: a tools/call reaches the upstream at most once, whatever becomes of its answer', async () => {
  const met = new Set<Answer>();
  const property = fc.asyncProperty(
    fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
    async (behaviour) => {
      met.add(behaviour[0]!);
      expect(await executions(behaviour)).toBeLessThanOrEqual(1);
    },
  );
  await fc.assert(property, { seed: 17, numRuns: 60 });
  expect(names.filter((name) => !met.has(name))).toEqual([]);
});
