import { expect, test } from 'vitest';
import { z } from 'zod';
import { catalogue, eventTypes, parseFact } from '../../src/events/index.ts';
import { run } from '../../src/simulate/index.ts';

type Node = Readonly<Record<string, unknown>>;

/** Every object of a schema: its member names, and whether it lets others in. */
function objectsOf(node: unknown): { readonly names: readonly string[]; readonly open: boolean }[] {
  if (typeof node !== 'object' || node === null) return [];
  const { properties, additionalProperties } = node as Node;
  const names = Object.keys(properties ?? {});
  const own = properties === undefined ? [] : [{ names, open: additionalProperties !== false }];
  return [...own, ...Object.values(node).flatMap(objectsOf)];
}
const objects = eventTypes.flatMap((type) =>
  objectsOf(z.toJSONSchema(catalogue[type] as unknown as z.ZodType, { io: 'input', unrepresentable: 'any' })),
);

test('L16: every object of every event is closed: a field that is not in the catalogue is refused', () => {
  expect(objects.length).toBeGreaterThan(eventTypes.length);
  expect(objects.filter(({ open }) => open)).toEqual([]);
  for (const type of eventTypes)
    expect(() => parseFact({ type, data: { token: 'canary' } }), type).toThrow(/bad event/);
});

test('L16: no field of any event is meant for a secret, an address or an argument', () => {
  const secret = /token|secret|cookie|passw|credential|bearer|api_?key|url|endpoint|host|argument|params|header|body/i;
  expect(objects.flatMap(({ names }) => names).filter((name) => secret.test(name))).toEqual([]);
});

test('L16: a log of a storm says nothing that no schema allows', async () => {
  const { log } = await run({ seed: 16, steps: 200, calm: true });
  expect(log.length).toBeGreaterThan(50);
  for (const { type, data } of log) expect(() => parseFact({ type, data })).not.toThrow();
});
